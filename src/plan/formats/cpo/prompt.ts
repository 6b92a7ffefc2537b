/**
 * The prompt of a task: the file that was made for it, or else one of the same form made from its
 * task file. Contracts come with it word for word: prompts are read where the directory, which
 * need not be committed, may be missing.
 */

import { NO_SCOPE, type ScopeEntry } from './scope-text.ts';
import type { CpoTask } from './task.ts';

export interface PromptParts {
  readonly task: CpoTask;
  readonly title: string;
  readonly agent: string;
  readonly deps: readonly string[];
  readonly skills: readonly string[];
  /** The text of context.md; '' without one. */
  readonly context: string;
  readonly contracts: readonly Contract[];
  /** The directory, relative to the repository's root. */
  readonly directory: string;
}

export interface Contract {
  readonly path: string;
  /** Null where it is too long to be part of a prompt. */
  readonly text: string | null;
}

/** Sections that every prompt has, by the name in their marker. */
export const SECTIONS = [
  'REQUIRED SKILLS',
  'CONTEXT',
  'OBJECTIVE',
  'CONTRACTS',
  'FILES TO CREATE',
  'FILES TO MODIFY',
  'DO NOT MODIFY',
  'IMPLEMENTATION REQUIREMENTS',
  'ACCEPTANCE CRITERIA',
  'EXECUTION INSTRUCTIONS',
  'IMPORTANT RULES',
  'COMPLETION SIGNAL',
] as const;

/** A prompt made from the task file. */
export function buildPrompt(parts: PromptParts): string {
  const { task, agent, deps, title } = parts;
  const header = [
    `${task.id.replace(/^task-/i, 'TASK-')}: ${title}`,
    `Agent: ${agent}`,
    `Wave: ${task.wave}`,
    `Dependencies: ${deps.length === 0 ? 'None' : deps.join(', ')}`,
  ];
  const texts = sectionTexts(parts);
  const sections = SECTIONS.map((name) => `=== ${name} ===\n\n${texts[name].trim() || '(none)'}`);
  return `${[header.join('\n'), ...sections].join('\n\n')}\n${contractFiles(parts)}`;
}

/** The contents of the contracts, to be put behind a prompt; '' where there are none. */
export function contractFiles({ contracts, directory }: PromptParts): string {
  const files = contracts.flatMap(({ path, text }) => {
    if (text === null) return [];
    const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
    const fence = '`'.repeat(longest + 1);
    return [`${directory}/${path}:\n\n${fence}\n${text.trimEnd()}\n${fence}`];
  });
  if (files.length === 0) return '';
  const note = `Designs to follow, not modules: never import anything from ${directory}/.`;
  return `\n=== CONTRACT FILES ===\n\n${note}\n\n${files.join('\n\n')}\n`;
}

function sectionTexts(parts: PromptParts): Readonly<Record<(typeof SECTIONS)[number], string>> {
  const { task, title, skills, context, contracts, directory } = parts;
  const scope = task.file?.scope ?? NO_SCOPE;
  const invoke = 'Invoke each of these skills before you write code:\n\n';
  const read = 'Read these first; types, fields and names are as they say:\n\n';
  return {
    'REQUIRED SKILLS': skills.length === 0 ? '' : invoke + bullets(skills),
    CONTEXT: context,
    OBJECTIVE: task.file?.objective ?? task.file?.component ?? title,
    CONTRACTS:
      contracts.length === 0
        ? ''
        : read + bullets(contracts.map(({ path }) => `${directory}/${path}`)),
    'FILES TO CREATE': bullets(scope.create.map(shown)),
    'FILES TO MODIFY': bullets(scope.modify.map(shown)),
    'DO NOT MODIFY': bullets(scope.boundary.map(shown)),
    'IMPLEMENTATION REQUIREMENTS': task.file?.requirements ?? '',
    'ACCEPTANCE CRITERIA': task.file?.checklist ?? '',
    'EXECUTION INSTRUCTIONS': EXECUTION,
    'IMPORTANT RULES': RULES,
    'COMPLETION SIGNAL': SIGNAL,
  };
}

const EXECUTION = `1. Read the contracts, then the code that is there already.
2. Write the code. A plan or a proposal is not enough.
3. Write tests for it, run them, and mend until they are green.
4. Run the project's linter and mend what it finds.
5. Make one commit, with a conventional message such as "feat(users): add the user model".`;

const RULES = `- Nobody confirms anything: go on without asking.
- Leave alone what DO NOT MODIFY lists.
- Follow the contracts. They are designs: write their types again in the project's own code.
- Commit, and say that you are done, only when tests and linter are green.
- If something blocks you, stop and report it instead of working around it.`;

const SIGNAL =
  'When tests and linter are green and the work is committed, create the empty file ' +
  '.claude-task-complete in the root of your worktree. It is never committed.';

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

function shown({ path, part }: ScopeEntry): string {
  return part === null ? path : `${path}::${part}`;
}

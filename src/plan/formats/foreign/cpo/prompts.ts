/**
 * The prompt of a task: its file, or one of the same form generated from its task file. Contracts are
 * copied into it, because the directory need not be committed and may be missing where it is read.
 */

import { type DirectoryLogs, ProblemLog, quote } from '../../../problem.ts';
import { fenced } from '../../../syntax/markdown.ts';
import { entryOf, itemsOf, readYaml, type YamlNode } from '../../../syntax/yaml.ts';
import type { Lack, PlanInput } from '../../format.ts';
import { pathRefusal } from '../../native/values.ts';
import type { CpoTask, Manifest, Word } from './manifest.ts';
import type { Order } from './order.ts';
import { NO_SCOPE, shown } from './task-file.ts';

interface PromptParts {
  readonly task: CpoTask;
  readonly title: string;
  readonly agent: string;
  readonly deps: readonly string[];
  readonly skills: readonly string[];
  /** The text of context.md. */
  readonly context: string;
  readonly contracts: readonly Contract[];
  /** Relative to the repository's root. */
  readonly directory: string;
}

interface Contract {
  readonly path: string;
  /** Null if it is too long for a prompt. */
  readonly text: string | null;
}

function buildPrompt(parts: PromptParts): string {
  const { task, agent, deps, title } = parts;
  const header = [
    `${task.id.replace(/^task-/i, 'TASK-')}: ${title}`,
    `Agent: ${agent}`,
    `Wave: ${task.wave}`,
    `Dependencies: ${deps.length === 0 ? 'None' : deps.join(', ')}`,
  ];
  const sections = Object.entries(SECTIONS).map(
    ([name, textOf]) => `=== ${name} ===\n\n${textOf(parts).trim() || '(none)'}`,
  );
  return `${[header.join('\n'), ...sections].join('\n\n')}\n`;
}

/** The contents of the contracts, which follow the prompt. */
function contractFiles({ contracts, directory }: PromptParts): string {
  const files = contracts.flatMap(({ path, text }) =>
    text === null ? [] : [`${directory}/${path}:\n\n${fenced(text.trimEnd())}`],
  );
  if (files.length === 0) return '';
  const note = `Designs to follow, not modules: never import anything from ${directory}/.`;
  return `\n=== CONTRACT FILES ===\n\n${note}\n\n${files.join('\n\n')}\n`;
}

const EXECUTION = `1. Read the contracts, then the code that already exists.
2. Write the code. A plan or a proposal is not enough.
3. Write tests for it, run them, and mend until they are green.
4. Run the project's linter and mend what it finds.
5. Make one commit, with a conventional message such as "feat(users): add the user model".`;

const RULES = `- No one is there to confirm anything: continue without asking.
- Leave alone what DO NOT MODIFY lists.
- Follow the contracts. They are designs: write their types again in the project's own code.
- Commit, and say that you are done, only when tests and linter are green.
- If something blocks you, stop and report it instead of working around it.`;

const MARKER = '.claude-task-complete';
const SIGNAL =
  'When tests and linter are green and the work is committed, create the empty file ' +
  `${MARKER} in the root of your worktree. It is never committed.`;

/** The sections that agents rely on, in order. */
const SECTIONS: Readonly<Record<string, (parts: PromptParts) => string>> = {
  'REQUIRED SKILLS': ({ skills }) =>
    withHead('Invoke each of these skills before you write code:', skills),
  CONTEXT: ({ context }) => context,
  OBJECTIVE: ({ task: { file }, title }) => file?.objective ?? file?.component ?? title,
  CONTRACTS: ({ contracts, directory }) =>
    withHead(
      'Read these first; types, fields and names are as they say:',
      contracts.map(({ path }) => `${directory}/${path}`),
    ),
  'FILES TO CREATE': ({ task }) => bullets((task.file?.scope ?? NO_SCOPE).create.map(shown)),
  'FILES TO MODIFY': ({ task }) => bullets((task.file?.scope ?? NO_SCOPE).modify.map(shown)),
  'DO NOT MODIFY': ({ task }) => bullets((task.file?.scope ?? NO_SCOPE).boundary.map(shown)),
  'IMPLEMENTATION REQUIREMENTS': ({ task }) => task.file?.requirements ?? '',
  'ACCEPTANCE CRITERIA': ({ task }) => task.file?.checklist ?? '',
  'EXECUTION INSTRUCTIONS': () => EXECUTION,
  'IMPORTANT RULES': () => RULES,
  'COMPLETION SIGNAL': () => SIGNAL,
};

function withHead(head: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${head}\n\n${bullets(lines)}`;
}

/** Whether a prompt tells its agent to create the completion marker. */
export function asksForMarker(prompt: string): boolean {
  return prompt.includes(MARKER);
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

interface TaskPrompt {
  readonly prompt: string;
  readonly title: string;
  /** Relative to the directory; null if the prompt was generated. */
  readonly file: string | null;
  /** Generated from the task file; null without one. */
  readonly made: string | null;
}

const MAX_CONTRACT = 64 * 1024;

/** By task: `prompt_file`, `prompts/<id>.txt`, `prompts/task-NNN.txt`, or generated from its task file. */
export function readPrompts(
  tasks: readonly CpoTask[],
  around: { readonly input: PlanInput; readonly order: Order; readonly manifest: Manifest },
  logs: DirectoryLogs,
): ReadonlyMap<string, TaskPrompt> {
  const { input, order, manifest } = around;
  const context = input.read('context.md') ?? '';
  const skillsOf = readSkills(input);
  const prompts = tasks.map((task): [string, TaskPrompt] => {
    const agent = task.entry.agent ?? task.file?.agent?.text ?? '';
    const component = task.file?.component ?? task.entry.component;
    const title = task.file?.title ?? component ?? manifest.title ?? task.id;
    const given = task.file?.skills ?? [];
    const parts: PromptParts = {
      task,
      title,
      agent,
      deps: [...(order.get(task.id) ?? [])],
      skills: given.length > 0 ? given : skillsOf(agent),
      context,
      contracts: readContracts(task, input),
      directory: input.directory,
    };
    const made = task.file === null ? null : buildPrompt(parts);
    return [task.id, { title, made, ...promptOf(parts, input, logs) }];
  });
  return new Map(prompts);
}

function promptOf(
  parts: PromptParts,
  input: PlanInput,
  logs: DirectoryLogs,
): Pick<TaskPrompt, 'prompt' | 'file'> {
  const { task } = parts;
  const log = logs.main;
  const named = task.entry.promptFile;
  const paths = named === null ? promptPaths(task.id) : [named.text];
  const refusal = named === null ? null : pathRefusal(named.text);
  const path = refusal === null ? paths.find((one) => input.read(one) !== null) : undefined;
  if (path !== undefined) {
    const text = input.read(path) ?? '';
    if (text.trim() === '') logs.of(path).error({ line: 1, column: 1 }, 'the prompt is empty');
    return { prompt: `${text}${contractFiles(parts)}`, file: path };
  }
  if (named !== null) {
    const why = refusal?.message ?? `prompt_file ${quote(named.text)} cannot be read`;
    log.error(named.at, `${task.id}: ${why}`, 'name a file below the directory');
  } else if (task.file === null) {
    const message = `${task.id} has neither a prompt nor a task file`;
    log.error(task.entry.at, message, `write ${paths[0]}, or tasks/${task.id}.md to make it from`);
  }
  return { prompt: `${buildPrompt(parts)}${contractFiles(parts)}`, file: null };
}

function promptPaths(id: string): readonly string[] {
  const [number] = /^task-\d+/i.exec(id) ?? [];
  const names = [id, ...(number === undefined ? [] : [number])];
  return [...new Set(names)].map((name) => `prompts/${name}.txt`);
}

function readContracts(task: CpoTask, input: PlanInput): readonly Contract[] {
  return (task.file?.contracts ?? []).flatMap((word) => {
    const contract = readContract(word, input);
    if (typeof contract !== 'string') return [contract];
    const remedy = 'name it relative to the directory: contracts/types.py';
    task.file?.log.warning(word.at, `contract ${quote(word.text)} ${contract}`, remedy);
    return [];
  });
}

/** A contract, named relative to the directory, tasks/ or the repository; or what is wrong. */
function readContract({ text: given }: Word, input: PlanInput): Contract | string {
  const path = given.replace(/^(?:\.\.?\/)+/, '');
  if (pathRefusal(path) !== null) return 'lies outside of the repository';
  const prefix = `${input.directory}/`;
  const own = path.startsWith(prefix) ? path.slice(prefix.length) : path;
  const text = input.read(own);
  if (text === null) return 'is missing';
  return { path: own, text: text.length > MAX_CONTRACT ? null : text };
}

const FILE = 'agent-skills-mapping.yaml';
/** Where the mapping is installed, below the root. */
const PLACES = [
  `.claude/skills/parallel-agents/${FILE}`,
  `.claude/product-design/skills/parallel-agents/${FILE}`,
  `plugins/product-design/skills/parallel-agents/${FILE}`,
];

/** The skills of an agent as `plugin:skill`, for task files that list none. */
function readSkills(input: PlanInput): (agent: string) => readonly string[] {
  const root = readMapping(input);
  return (agent) => {
    const skills = entryOf(entryOf(entryOf(root, 'agents')?.value, agent)?.value, 'skills')?.value;
    const plugin = agent.split(':', 1)[0] ?? '';
    return itemsOf(skills)
      .flatMap((node) => (node.kind === 'scalar' && node.value !== null ? [`${node.value}`] : []))
      .map((skill) => (skill.includes(':') ? skill : `${plugin}:${skill}`));
  };
}

/** The nearest mapping. It is not part of the plan, so its problems are not reported. */
function readMapping(input: PlanInput): YamlNode | undefined {
  const near = [FILE, `../${FILE}`].map((path) => input.read(path));
  const installed = PLACES.map((path) => input.repository.read(path));
  const text = [...near, ...installed].find((found) => found !== null) ?? null;
  if (text === null) return undefined;
  return readYaml({ text, firstLine: 1, version: '1.2' }, new ProblemLog(FILE)) ?? undefined;
}

/** What to do, and when it is done. */
const CRITICAL: readonly string[] = [
  'EXECUTION INSTRUCTIONS',
  'IMPORTANT RULES',
  'COMPLETION SIGNAL',
];

/**
 * What a prompt lacks. The form of the answer is asked for anyway, so that a prompt need not; one
 * that does must name the key that tells whether the task is done.
 */
export function lacksOf(prompt: string): readonly Lack[] {
  const missing = Object.keys(SECTIONS).filter((name) => !prompt.includes(`=== ${name} ===`));
  const asks = prompt.includes('=== OUTPUT FORMAT');
  return [
    ...missing.map((name) => ({ what: `=== ${name} ===`, critical: CRITICAL.includes(name) })),
    ...(asks && !prompt.includes('"task_completed"')
      ? [{ what: '"task_completed" in OUTPUT FORMAT', critical: true }]
      : []),
  ];
}

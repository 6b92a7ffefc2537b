/**
 * What OpenCode may do without asking, as rules of its own `permission` configuration. There are no
 * prompts: what is not allowed is denied, and the model continues without it.
 *
 *   default            the user's configuration decides; what it would ask about is denied
 *   acceptEdits        reads and edits inside the workspace and `dirs`, and what the task allows
 *   dontAsk            the same without edits
 *   plan               as dontAsk, and no rule of the task brings edits back
 *   bypassPermissions  everything but what is denied by name; `--auto` says yes to the rest
 *
 * A read task is as dontAsk (or plan), and no rule of the task brings edits back.
 *
 *   P1. Rules of a task are `permission` or `permission(pattern)`, named and matched as OpenCode
 *       does: `bash(npm test *)`, `edit(docs/*)`, `webfetch`, `tickets_*` for an MCP server's tools.
 *   P2. The last rule that matches wins: the mode, then what is allowed, then what is denied. In the
 *       user's configuration a name keeps the place it has; so each of these groups spells names in
 *       a way of its own (`?dit`, `e?it`), which means the same and comes last.
 *   P3. A sub-agent has permissions of its own, so the restricted modes do not start any.
 */

import type { Job } from '../agent.ts';

export type Action = 'allow' | 'deny';

/** Permission names with an action for all of their uses, or one for each pattern. */
export type Rules = Readonly<Record<string, Action | Readonly<Record<string, Action>>>>;

/** The rules of a job, the strongest last; none where the user's own configuration is enough. */
export function permissionRules(job: Job): Rules {
  const { tools, dirs } = job.options;
  const mode = modeRules(job);
  const bash = tools.commands.flatMap((program) => [program, `${program} *`]);
  return {
    ...inOrder([
      ...mode,
      ...bash.map((pattern): Rule => ['bash', pattern, 'allow']),
      ...dirs.map((dir): Rule => ['external_directory', `${dir}/*`, 'allow']),
    ]),
    ...inOrder(
      tools.allowed.map((text) => ruleOf(text, 'allow')),
      2,
    ),
    ...inOrder([...lastWord(job), ...tools.disallowed.map((text) => ruleOf(text, 'deny'))], 3),
  };
}

type Rule = readonly [permission: string, pattern: string, action: Action];

function modeRules({ permissions, readOnly }: Job): readonly Rule[] {
  if (!readOnly && (permissions === 'default' || permissions === 'bypassPermissions')) return [];
  const edit: Rule = ['edit', '*', readOnly || permissions !== 'acceptEdits' ? 'deny' : 'allow'];
  return [...RESTRICTED, edit];
}

/** Where nothing may be written no rule of the task changes that. */
function lastWord({ permissions, readOnly }: Job): readonly Rule[] {
  return readOnly || permissions === 'plan' ? [['edit', '*', 'deny']] : [];
}

/** Looking, planning and knowing; files that usually hold secrets are not looked at. */
const RESTRICTED: readonly Rule[] = [
  ['*', '*', 'deny'],
  ['read', '*', 'allow'],
  ['read', '*.env', 'deny'],
  ['read', '*.env.*', 'deny'],
  ['read', '*.env.example', 'allow'],
  ...['glob', 'grep', 'list', 'lsp', 'skill', 'todowrite', 'todoread', 'invalid'].map(
    (name): Rule => [name, '*', 'allow'],
  ),
  ['bash', '*', 'deny'],
  ['external_directory', '*', 'deny'],
];

function ruleOf(text: string, action: Action): Rule {
  const [, name = text, pattern = '*'] = /^([^()]+)\((.*)\)$/s.exec(text.trim()) ?? [];
  return [WRITING.has(name) ? 'edit' : name.trim(), pattern, action];
}

/** Tools that change files have one permission together. */
export const WRITING: ReadonlySet<string> = new Set(['write', 'patch', 'apply_patch', 'multiedit']);

/** As an object whose order is that of the rules. */
function inOrder(rules: readonly Rule[], place = 1): Rules {
  const byName = new Map<string, Map<string, Action>>();
  for (const [permission, pattern, action] of rules) {
    const name = spelled(permission, place);
    const patterns = byName.get(name) ?? new Map<string, Action>();
    patterns.delete(pattern); // It goes to the end.
    byName.set(name, patterns.set(pattern, action));
  }
  const entries = Array.from(byName, ([name, patterns]) => {
    const all = patterns.size === 1 ? patterns.get('*') : undefined;
    return [name, all ?? Object.fromEntries(patterns)] as const;
  });
  return Object.fromEntries(entries);
}

/** A name with `?` for one of its letters: it still means that name among the CLI's own. */
function spelled(name: string, place: number): string {
  if (name.startsWith('*')) return `${'*'.repeat(place)}${name}`;
  return name.length < place ? name : `${name.slice(0, place - 1)}?${name.slice(place)}`;
}

/**
 * What a job may do, as rules of Gemini CLI's policy engine (TOML).
 *
 *   P1. No model raises its own permissions: headless, one that leaves plan mode finds everything
 *       allowed, and it can enter plan mode from any other. Only where everything is allowed anyway
 *       are the two tools left in place.
 *   P2. A refusal outranks a permission, and a guard outranks both. Guards have their own file: one
 *       with a rule that the CLI does not understand has no effect at all.
 *   P3. A rule is `tool` or `tool(text)`. For the shell the text is how a command begins, word by
 *       word, and of `a && b` both must be allowed; for any other tool its input must hold the text.
 */

import type { Job } from '../agent.ts';

export const SHELL = 'run_shell_command';
const PLAN_TOOLS: readonly string[] = ['enter_plan_mode', 'exit_plan_mode'];
export const WRITING_TOOLS: readonly string[] = ['write_file', 'replace'];
/** Tools the CLI does not even offer where its mode refuses them. */
const GATED_TOOLS: readonly string[] = [SHELL, 'web_fetch', 'activate_skill'];

/** The rules that hold whatever the task asks for. */
export function guardRules(job: Job): string {
  return guarded(job)
    .map((toolName) => tomlRule('deny', 999, { toolName }))
    .join('\n');
}

export function taskRules({ options: { tools } }: Job): string {
  return [
    ...tools.disallowed.map((rule) => tomlRule('deny', 900, conditions(rule))),
    ...tools.allowed.map((rule) => tomlRule('allow', 500, conditions(rule))),
    ...tools.commands.map((program) => tomlRule('allow', 500, shellConditions(program))),
  ].join('\n');
}

/** Tools which, when the CLI says that it does not have them, were withheld from this job. */
export function withheldTools(job: Job): ReadonlySet<string> {
  const refused = job.options.tools.disallowed.map((rule) => conditions(rule).toolName ?? '');
  return new Set([...PLAN_TOOLS, ...WRITING_TOOLS, ...GATED_TOOLS, ...refused]);
}

function guarded({ permissions, readOnly }: Job): readonly string[] {
  const raising = permissions === 'bypassPermissions' && !readOnly ? [] : PLAN_TOOLS;
  return readOnly ? [...raising, ...WRITING_TOOLS] : raising;
}

type Conditions = Readonly<Record<string, string>>;

function conditions(rule: string): Conditions {
  const [, name = rule, text = ''] = /^([\w-]+)\((.*)\)$/s.exec(rule) ?? [];
  const toolName = name === 'ShellTool' ? SHELL : name;
  if (text === '') return { toolName };
  return toolName === SHELL ? shellConditions(text) : { toolName, argsPattern: pattern(text) };
}

function shellConditions(commandPrefix: string): Conditions {
  return { toolName: SHELL, commandPrefix };
}

/** Matches the text itself, as it stands in JSON. The engine refuses patterns that look clever. */
function pattern(text: string): string {
  const quoted = JSON.stringify(text).slice(1, -1);
  return quoted.replace(/[^\w/]/gu, (char) =>
    Array.from({ length: char.length }, (_, index) => {
      const code = char.charCodeAt(index).toString(16);
      return `\\u${code.padStart(4, '0')}`;
    }).join(''),
  );
}

/** A string of JSON is one of TOML. */
function tomlRule(decision: 'allow' | 'deny', priority: number, fields: Conditions): string {
  const lines = Object.entries({ ...fields, decision }).map(
    ([key, value]) => `${key} = ${JSON.stringify(value)}\n`,
  );
  return `[[rule]]\n${lines.join('')}priority = ${priority}\n`;
}

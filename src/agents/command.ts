/**
 * Any program as an agent: the plan gives its argument vector, and its exit code is the whole
 * truth. Exit 0 is success and what it printed is its answer.
 *
 *   C1. The prompt is standard input, which has no limit, or an argument (`prompt_as: argument`):
 *       in place of every `{prompt}` of the vector, or the last one where there is none. A prompt
 *       beyond the limit of an argument is refused: the system's own error would not mention it.
 *   C2. There is no shell in between: nothing in a prompt can become a command.
 *   C3. The program's arguments decide what it may do. So only modes are accepted that promise to
 *       hold nothing back from it: a plan's own (`default`, `acceptEdits`) and `bypassPermissions`.
 */

import { UserError } from '../base/errors.ts';
import type { AgentEnd, AgentOutcome, CommandLine, Job } from './agent.ts';
import { type Agent, NO_ABILITIES } from './agent.ts';
import { plainOutcome } from './outcome.ts';

export const command: Agent = {
  name: 'command',
  can: {
    ...NO_ABILITIES,
    prose: true,
    plain: true,
    permissions: ['default', 'acceptEdits', 'bypassPermissions'],
    anyCommand: true,
  },
  program: {
    file: null,
    versionArgs: [],
    install: 'any program; the plan names it (`command: [program, argument, …]`)',
    login: null,
    sessions: null,
  },
  command: commandLine,
  parser: () => ({ stdout: () => [], stderr: () => [] }),
  outcome,
};

/** An exit code of its own choice says nothing of a service or the network. */
function outcome(end: AgentEnd): AgentOutcome {
  const plain = plainOutcome(end);
  if (plain.ok || plain.failure.kind !== 'transient' || end.exit.kind !== 'exited') return plain;
  return { ok: false, failure: { ...plain.failure, kind: 'exit-code' } };
}

function commandLine({ prompt, options }: Job): CommandLine {
  const [file = '', ...args] = options.command;
  if (options.promptAs === 'stdin') return { file, args, stdin: prompt, env: {}, inherit: [] };
  const placed = args.some((text) => text.includes(PLACE))
    ? args.map((text) => text.replaceAll(PLACE, () => prompt))
    : [...args, prompt];
  for (const argument of placed) requireShort(argument);
  return { file, args: placed, stdin: '', env: {}, inherit: [] };
}

function requireShort(argument: string): void {
  const bytes = new TextEncoder().encode(argument).length;
  if (bytes <= MAX_ARGUMENT_BYTES) return;
  const size = `${Math.ceil(bytes / 1024)} KB of at most ${MAX_KB} KB`;
  throw new UserError(
    `The prompt is too long for an argument (${size}): give it as \`prompt_as: stdin\`.`,
  );
}

const PLACE = '{prompt}';
const MAX_KB = 120;
const MAX_ARGUMENT_BYTES = MAX_KB * 1024;

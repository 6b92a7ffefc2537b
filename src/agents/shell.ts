/**
 * The shell as an agent: the task's prompt is a script, and its exit code is the whole truth.
 *
 * A script is an argument, which costs no further process, unless it is too long for one. Then it
 * travels on standard input and is read to its end before its first command runs: `sh -s` would let
 * a command that reads standard input eat the rest. The blank before it keeps a script that begins
 * with `-` from being taken for an option.
 *
 * A script is written for `sh`, so the program that a user named for other agents is not used.
 */

import type { AgentEnd, AgentOutcome, CommandLine, Job } from './agent.ts';
import { type Agent, NO_ABILITIES } from './agent.ts';
import { describeEnd, plainOutcome, succeeded } from './outcome.ts';

export const shell: Agent = {
  name: 'shell',
  can: {
    ...NO_ABILITIES,
    plain: true,
    permissions: ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'],
  },
  program: {
    file: '/bin/sh',
    versionArgs: [],
    install: 'part of the system',
    login: null,
    sessions: null,
  },
  command,
  parser: () => ({ stdout: () => [], stderr: () => [] }),
  outcome,
};

/** In UTF-16 units, each of which is at most three bytes. */
const MOST_AS_ARGUMENT = 40_000;

function command({ prompt }: Job): CommandLine {
  const isShort = prompt.length <= MOST_AS_ARGUMENT && !prompt.includes('\0');
  return {
    file: '/bin/sh',
    args: ['-c', isShort ? ` ${prompt}` : 'eval " $(cat)"'],
    stdin: isShort ? '' : prompt,
    env: {},
    inherit: [],
  };
}

function outcome(end: AgentEnd): AgentOutcome {
  const { exit } = end;
  if (succeeded(exit)) return plainOutcome(end);
  const message = `The script failed. ${describeEnd(end)}`;
  if (exit.kind === 'aborted') return { ok: false, failure: { kind: 'interrupted', message } };
  if (exit.kind === 'signalled') return { ok: false, failure: { kind: 'transient', message } };
  const isHopeless = exit.code === 126 || exit.code === 127;
  return { ok: false, failure: { kind: isHopeless ? 'permanent' : 'exit-code', message } };
}

/**
 * The shell as an agent: the task's prompt is a script, and its exit code is the whole truth.
 *
 * The script travels on standard input and is read to its end before its first command runs. As an
 * argument it could not be longer than 128 KiB; fed to `sh -s`, a command in it that reads standard
 * input would eat the rest of the script. This way there is no limit, and commands in the script
 * find an empty standard input. The blank before it keeps `eval` from taking a script that begins
 * with `-` for an option.
 *
 * A script is written for `sh`, so a program the user named for other agents is not used here. Its
 * output has no form to understand: all of it is the end's `stdoutTail`, and there is no session.
 */

import type { Agent, AgentEnd, AgentOutcome, CommandLine, Job } from './agent.ts';
import { describeEnd, plainOutcome, succeeded } from './plain-command.ts';

export const shell: Agent = {
  name: 'shell',
  can: {
    resume: false,
    fork: false,
    prose: false,
    plain: true,
    role: false,
    model: false,
    permissions: ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'],
    toolRules: false,
    commands: false,
    dirs: false,
    mcp: false,
    maxTurns: false,
    budget: false,
    schema: false,
    anyCommand: false,
  },
  program: { file: '/bin/sh', versionArgs: [], install: 'part of the system', login: null },
  command,
  parser: () => ({ stdout: () => [], stderr: () => [] }),
  outcome,
};

function command(job: Job): CommandLine {
  return {
    file: '/bin/sh',
    args: ['-c', 'eval " $(cat)"'],
    stdin: job.prompt,
    env: {},
    inherit: [],
  };
}

function outcome(end: AgentEnd): AgentOutcome {
  const { exit } = end;
  if (succeeded(exit)) return plainOutcome(end);
  const message = `The script failed. ${describeEnd(end)}`;
  if (exit.kind === 'aborted') return { ok: false, failure: { kind: 'interrupted', message } };
  const hopeless = exit.kind === 'exited' && (exit.code === 126 || exit.code === 127);
  return { ok: false, failure: { kind: hopeless ? 'permanent' : 'transient', message } };
}

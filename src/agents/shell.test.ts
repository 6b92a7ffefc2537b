/** The shell agent’s command and verdicts; test/agents/shell.test.ts runs it for real. */

import { expect, test } from 'vitest';
import { jobOf } from '../../test/support/job.ts';
import type { Exit } from '../base/exit.ts';
import type { AgentEnd, AgentOutcome } from './agent.ts';
import { shell } from './shell.ts';

function end(exit: Exit, stdoutTail = '', stderrTail = ''): AgentEnd {
  return { exit, job: jobOf(), result: null, spoke: false, stdoutTail, stderrTail };
}

test('the script is standard input, and a program named for other agents is not used', () => {
  const job = jobOf({ prompt: 'npx prettier --write src', executable: '/opt/claude' });
  expect(shell.command(job)).toEqual({
    file: '/bin/sh',
    args: ['-c', 'eval " $(cat)"'],
    stdin: 'npx prettier --write src',
    env: {},
    inherit: [],
  });
});

test('a line that looks like another agent’s stream means nothing', () => {
  const parser = shell.parser(jobOf());
  expect(parser.stdout('{"type":"result","subtype":"success","session_id":"s1"}')).toEqual([]);
  expect(parser.stderr('rate limit')).toEqual([]);
});

test.each<[string, AgentEnd, AgentOutcome]>([
  [
    'exit 0 is success, with the last lines of its output',
    end({ kind: 'exited', code: 0 }, '3 files\nformatted\n', 'a warning'),
    { ok: true, text: '3 files\nformatted' },
  ],
  [
    'a program that is not there will not be there next time',
    end({ kind: 'exited', code: 127 }, '', 'sh: 1: prettier: not found\n'),
    {
      ok: false,
      failure: {
        kind: 'permanent',
        message: 'The script failed. It exited with code 127: sh: 1: prettier: not found',
      },
    },
  ],
  [
    'any other code may be tried again, and the message names it with the last words',
    end({ kind: 'exited', code: 2 }, '', 'one\ntwo\n\n'),
    {
      ok: false,
      failure: { kind: 'transient', message: 'The script failed. It exited with code 2: two' },
    },
  ],
  [
    'a signal may be tried again',
    end({ kind: 'signalled', signal: 'SIGKILL' }),
    {
      ok: false,
      failure: { kind: 'transient', message: 'The script failed. It was ended by SIGKILL.' },
    },
  ],
  [
    'being stopped by us is an interruption',
    end({ kind: 'aborted', reason: 'stop' }),
    { ok: false, failure: { kind: 'interrupted', message: 'The script failed. It was stopped.' } },
  ],
])('%s', (_, given, expected) => {
  expect(shell.outcome(given)).toEqual(expected);
});

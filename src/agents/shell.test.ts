/** The shell agent’s command and verdicts; test/agents/shell.test.ts runs it for real. */

import { expect, test } from 'vitest';
import { endOf, jobOf } from '../../test/support/job.ts';
import type { Exit } from '../base/exit.ts';
import type { AgentEnd, AgentOutcome } from './agent.ts';
import { shell } from './shell.ts';

function end(exit: Exit, stdoutTail = '', stderrTail = ''): AgentEnd {
  return endOf({ exit, stdoutTail, stderrTail });
}

test('the script is an argument, and a program named for other agents is not used', () => {
  const job = jobOf({ prompt: 'npx prettier --write src', executable: '/opt/claude' });
  expect(shell.command(job)).toEqual({
    file: '/bin/sh',
    args: ['-c', ' npx prettier --write src'],
    stdin: '',
    env: {},
    inherit: [],
  });
});

test.each([
  ['longer than an argument can be', 'é'.repeat(70_000)],
  ['with a character that no argument can hold', 'echo \0'],
])('a script is standard input if it is %s', (_what, prompt) => {
  const args = ['-c', 'eval " $(cat)"'];
  expect(shell.command(jobOf({ prompt }))).toMatchObject({ args, stdin: prompt });
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
    'any other code is the script’s own word: the message names it with the last words',
    end({ kind: 'exited', code: 3 }, '', 'one\ntwo\n\n'),
    {
      ok: false,
      failure: { kind: 'exit-code', message: 'The script failed. It exited with code 3: two' },
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

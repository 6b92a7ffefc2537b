/** The argument vector of any program, and what its end means. */

import { expect, test } from 'vitest';
import { endOf, jobOf } from '../../test/support/job.ts';
import type { Exit } from '../base/exit.ts';
import { NO_OPTIONS } from '../model/plan.ts';
import type { AgentEnd, AgentOutcome, Job } from './agent.ts';
import { command } from './command.ts';

test('by default the vector is as the plan has it and the prompt is standard input', () => {
  expect(command.command(job(['aider', '--yes', '{prompt}'], 'stdin', 'Fix it.'))).toEqual({
    file: 'aider',
    args: ['--yes', '{prompt}'],
    stdin: 'Fix it.',
    env: {},
    inherit: [],
  });
});

test.each([
  ['the last argument', ['aider', '--message'], ['--message', 'Fix $& it.']],
  ['in its place', ['x', '{prompt}', '--fast'], ['Fix $& it.', '--fast']],
  ['part of an argument', ['x', '--message={prompt}!'], ['--message=Fix $& it.!']],
  ['in every place', ['x', '{prompt}', '-{prompt}'], ['Fix $& it.', '-Fix $& it.']],
])('as an argument the prompt is %s', (_, vector, args) => {
  expect(command.command(job(vector, 'argument', 'Fix $& it.'))).toEqual({
    file: vector[0],
    args,
    stdin: '',
    env: {},
    inherit: [],
  });
});

test('a prompt that no argument can hold is refused, counted in bytes', () => {
  const vector = ['x', '-m'];
  const fits = 'é'.repeat(60 * 1024);
  expect(command.command(job(vector, 'argument', fits)).args.at(-1)).toBe(fits);
  expect(() => command.command(job(vector, 'argument', `${fits}.`))).toThrow(
    'The prompt is too long for an argument (121 KB of at most 120 KB): give it as `prompt_as: stdin`.',
  );
  expect(command.command(job(vector, 'stdin', `${fits}.`)).stdin).toBe(`${fits}.`);
});

test('what it prints has no meaning of its own', () => {
  const parser = command.parser(jobOf());
  expect([parser.stdout('{"type":"result"}'), parser.stderr('error')]).toEqual([[], []]);
});

test.each<[string, AgentEnd, AgentOutcome]>([
  [
    'exit 0 is success, and its output the answer',
    end({ kind: 'exited', code: 0 }, 'Done.\n', 'rate limit'),
    { ok: true, text: 'Done.' },
  ],
  [
    'a log-in that failed needs the user',
    end({ kind: 'exited', code: 1 }, '', 'Invalid API key\n'),
    { ok: false, failure: { kind: 'auth', message: 'It exited with code 1: Invalid API key' } },
  ],
  [
    'a limit that is only words is guessed',
    end({ kind: 'exited', code: 1 }, '', 'rate limit exceeded\n'),
    {
      ok: false,
      failure: {
        kind: 'rate-limited',
        message: 'It exited with code 1: rate limit exceeded',
        guessed: true,
      },
    },
  ],
  [
    'a signal may be tried again',
    end({ kind: 'signalled', signal: 'SIGSEGV' }),
    { ok: false, failure: { kind: 'transient', message: 'It was ended by SIGSEGV.' } },
  ],
])('%s', (_, given, expected) => {
  expect(command.outcome(given)).toEqual(expected);
});

function job(vector: readonly string[], promptAs: 'stdin' | 'argument', prompt: string): Job {
  return jobOf({ prompt, options: { ...NO_OPTIONS, command: vector, promptAs } });
}

function end(exit: Exit, stdoutTail = '', stderrTail = ''): AgentEnd {
  return endOf({ exit, stdoutTail, stderrTail });
}

/** How any ACP program is started, what it can be asked for, and what its end means. */

import { expect, test } from 'vitest';
import { jobOf } from '../../test/support/job.ts';
import type { Exit } from '../base/exit.ts';
import type { AgentEvent } from '../model/agent-event.ts';
import { NO_OPTIONS } from '../model/plan.ts';
import { acp } from './acp.ts';
import type { AgentEnd, AgentOutcome } from './agent.ts';

test('the vector is as the plan has it, and the prompt is no part of it', () => {
  const options = { ...NO_OPTIONS, command: ['gemini', '--acp', '{prompt}'] };
  expect(acp.command(jobOf({ options, executable: '/bin/claude' }))).toEqual({
    file: 'gemini',
    args: ['--acp', '{prompt}'],
    stdin: '',
    env: {},
    inherit: [],
    dialogue: true,
  });
});

test('a prompt as an argument is refused in words', () => {
  const options = { ...NO_OPTIONS, command: ['x'], promptAs: 'argument' as const };
  expect(() => acp.command(jobOf({ options }))).toThrow(
    'Agent acp gets its prompt in the conversation: leave out `prompt_as`.',
  );
});

const FAILED = { kind: 'auth', message: 'Who are you?' } as const;

test.each<[string, Partial<AgentEnd>, AgentOutcome]>([
  [
    'a good answer is success, whatever the exit code',
    { result: result({ ok: true, text: 'Done.' }), spoke: true, exit: { kind: 'exited', code: 1 } },
    { ok: true, text: 'Done.' },
  ],
  [
    'an agent that had to be ended after its answer is a success',
    { result: result({ ok: true, text: 'Done.' }), exit: { kind: 'aborted', reason: null } },
    { ok: true, text: 'Done.' },
  ],
  [
    'a bad answer is its failure',
    { result: result({ ok: false, text: '', failure: FAILED }), spoke: true },
    { ok: false, failure: FAILED },
  ],
  [
    'an agent that ends in the middle may be tried again',
    { spoke: true, exit: { kind: 'signalled', signal: 'SIGSEGV' } },
    failure('transient', 'The agent ended without a result. It was ended by SIGSEGV.'),
  ],
  [
    'a program that does not speak the protocol fails, though it exits with 0',
    { stdoutTail: 'Hello!\n' },
    failure(
      'permanent',
      'The program did not speak the Agent Client Protocol. It exited with code 0.',
    ),
  ],
  [
    'a program that refuses to start is judged by its last words',
    { exit: { kind: 'exited', code: 2 }, stderrTail: 'unknown option --acp\n' },
    failure('permanent', 'It exited with code 2: unknown option --acp'),
  ],
])('%s', (_, part, expected) => {
  const exit: Exit = { kind: 'exited', code: 0 };
  const end = { exit, job: jobOf(), result: null, spoke: false, stdoutTail: '', stderrTail: '' };
  expect(acp.outcome({ ...end, ...part })).toEqual(expected);
});

function result(fields: Omit<AgentEvent & { type: 'result' }, 'type'>) {
  return { type: 'result', ...fields } as const;
}

function failure(kind: 'transient' | 'permanent', message: string): AgentOutcome {
  return { ok: false, failure: { kind, message } };
}

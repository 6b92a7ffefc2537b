/** What agents say at the end of one task, and what others hear of it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { runPlan } from '../support/run-plan.ts';
import { tempRepo } from '../support/temp-repo.ts';

const writes = (file: string, ...said: readonly string[]): string =>
  [`echo x > ${file}`, ...said.map((line) => `echo '${line}'`)].join('\n');

test('an agent that says it is blocked has failed, and its word is in the report', async () => {
  await using repo = await tempRepo();
  const tasks = {
    concerned: {
      answer: 'status-word',
      prompt: writes('a.txt', 'Status: DONE_WITH_CONCERNS', 'Concerns: it is slow'),
    },
    blocked: {
      answer: 'status-word',
      prompt: writes('b.txt', 'Status: BLOCKED', 'Blocker: no database'),
    },
    mute: { answer: 'status-word', prompt: writes('c.txt') },
    completed: {
      answer: 'completion',
      prompt: writes('d.txt', '```json', '{"task_completed": true, "tests_run": 3}', '```', 'Bye.'),
    },
    invalid: {
      answer: 'completion',
      prompt: writes(
        'e.txt',
        '```json',
        '{"task_completed": true, "validation_passed": false, "error_message": "lint"}',
        '```',
      ),
    },
  };
  const run = await runPlan(repo, { tasks });
  expect(run.code).toBe(1);
  const said = [...run.of('attempt.finished'), ...run.of('attempt.failed')];
  expect(Object.fromEntries(said.map(({ task, status }) => [task, status]))).toEqual({
    concerned: { status: 'DONE_WITH_CONCERNS', concerns: 'it is slow' },
    blocked: { status: 'BLOCKED', reason: 'no database' },
    mute: undefined,
    completed: { status: 'COMPLETED', tests: { run: 3 } },
    invalid: { status: 'FAILED', reason: 'lint', validated: false },
  });
  expect(run.failure('blocked')).toEqual({
    kind: 'permanent',
    message: 'The agent reported BLOCKED: no database',
  });
  expect(run.failure('invalid')?.message).toBe('The agent reported FAILED: lint');
  expect(
    run
      .of('merge.landed')
      .map(({ task }) => task)
      .sort(),
  ).toEqual(['completed', 'concerned', 'mute']);
});

test('a task hears what the tasks it needs have said, also after the run was resumed', async () => {
  await using repo = await tempRepo();
  const hearing = {
    needs: ['talks'],
    hears: ['talks'],
    agent: 'command',
    command: ['sh', '-c', 'cat > heard.txt; test -e ../../../go || exit 1'],
    prompt: 'Listen.',
  };
  const tasks = { talks: writes('a.txt', 'Use version 2.'), hears: hearing };
  const first = await runPlan(repo, { tasks });
  expect(first.code).toBe(1);
  await repo.git('init', '-q', join(repo.outside, 'go'));
  const again = await landfast(['resume', first.run], {
    cwd: repo.dir,
    env: { HOME: repo.outside },
  });
  expect(again.code, again.stderr).toBe(0);
  const heard = readFileSync(join(repo.dir, 'heard.txt'), 'utf8').split('\n');
  expect(heard.slice(0, 7)).toEqual([
    '# What talks reported',
    '',
    'Use version 2.',
    '',
    '# Task hears',
    '',
    'Listen.',
  ]);
});

test('a script takes its prompt literally: it cannot hear', async () => {
  await using repo = await tempRepo();
  const tasks = { a: writes('a.txt'), b: { needs: ['a'], hears: ['a'], prompt: writes('b.txt') } };
  const run = await runPlan(repo, { tasks });
  expect({ code: run.code, stderr: run.stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('Task b needs what its agent shell cannot do: hears.'),
  });
});

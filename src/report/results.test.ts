import { expect, test } from 'vitest';
import { allSucceeded, conflicted, hostile, interrupted } from '../../test/support/runs.ts';
import { fold } from '../model/fold.ts';
import { resultsJson, resultsText } from './results.ts';

const INFO = { run: 'r1', live: true };

test('a task that landed, one that failed with its work on a branch, one that never began', () => {
  expect(resultsText(fold(conflicted().entries), INFO)).toMatchInlineSnapshot(`
    "✓ users  succeeded  3.0 s  $0.25
        landed as 0004ccc
        | Done.

    ✗ login  failed  3.0 s  $0.50
        conflict: The work does not merge.
        on branch landfast/r1.login at 0005ccc
        | Done.

    ⊘ docs  skipped  0.0 s  $0.00
        dependency-failed: Not started: it needs login, which failed.
    "
  `);
});

test('what is not over is only counted, and is a result when the run has ended', () => {
  const run = interrupted();
  const live = resultsJson(fold(run.entries.slice(0, -3)), INFO);
  expect(live.tasks.map(({ task, status }) => [task, status])).toEqual([['users', 'succeeded']]);
  expect(resultsText(fold(run.entries.slice(0, -3)), INFO)).toMatch(
    /\n2 tasks are not over yet\.\n$/,
  );
  const over = resultsJson(fold(run.entries), { run: 'r1', live: false });
  expect(over.tasks.map(({ task, status }) => [task, status])).toEqual([
    ['users', 'succeeded'],
    ['login', 'unfinished'],
    ['docs', 'unfinished'],
  ]);
});

test('for programs a result has everything, and the same each time', () => {
  const state = fold(allSucceeded().entries);
  const first = resultsJson(state, INFO);
  expect(first.tasks[0]).toMatchInlineSnapshot(`
    {
      "attempts": 1,
      "branch": null,
      "commit": "0004cccccccccccccccccccccccccccccccccccc",
      "cost_usd": 0.25,
      "denied": [],
      "doubt": null,
      "duration_sec": 13,
      "failed": null,
      "failure": null,
      "landed": true,
      "status": "succeeded",
      "task": "users",
      "text": "Done.",
    }
  `);
  expect(resultsJson(state, INFO)).toEqual(first);
});

test('last words are bounded and hold nothing that a terminal would obey', () => {
  const state = fold(hostile().entries);
  const [result] = resultsJson(state, INFO).tasks;
  expect(result?.text.length).toBeLessThanOrEqual(4_000);
  expect(resultsText(state, INFO)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
});

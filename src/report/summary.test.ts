/** The end of a run: the text, and the exit code. */

import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import {
  allSucceeded,
  CONFLICT,
  cancelled,
  conflicted,
  delivered,
  deniedAndOutside,
  hostile,
  interrupted,
  publishBlocked,
  RED,
  redTogether,
  retriedOnce,
} from '../../test/support/runs.ts';
import { reportJson } from './json.ts';
import { reportMarkdown } from './markdown.ts';
import { planText } from './plan-text.ts';
import { statusText } from './status.ts';
import { exitCodeOf, summaryText } from './summary.ts';

const INFO = { run: 'r1' };

test('success is two lines and the report', () => {
  const text = summaryText(allSucceeded().state(), { ...INFO, report: 'out/report.md' });
  expect(text).toMatchInlineSnapshot(`
    "accounts: All 3 tasks succeeded; main is at 000accc.
      54 s  $0.75  landed 3  head 000accc

    Report: out/report.md
    "
  `);
});

test('a red combination is told with its remedy', () => {
  expect(summaryText(redTogether().state(), INFO)).toMatchInlineSnapshot(`
    "accounts: 1 of 3 tasks failed, 1 skipped, 1 succeeded; main is at 0004ccc.
      22 s  $0.75  landed 1  head 0004ccc

    ✗ login  gate-failed: Gate tests is red on the combination.
        It is green alone, red together with what landed meanwhile: users.
        $ npm test  (exit code 1)
        | FAIL test/auth.test.ts
        |   expected 200, got 500
        Full output: landfast logs login --gate tests
        Review the change, fix it on its branch, commit, then resume: your commit becomes the work.
        git diff HEAD...landfast/r1.login

    ⊘ 1 skipped: docs

    Next: landfast logs login, landfast status, landfast resume r1
    "
  `);
});

test('a conflict is told with the merge to make', () => {
  expect(summaryText(conflicted().state(), INFO)).toMatchInlineSnapshot(`
    "accounts: 1 of 3 tasks failed, 1 skipped, 1 succeeded; main is at 0004ccc.
      20 s  $0.75  landed 1  head 0004ccc

    ✗ login  conflict: The work does not merge.
        It conflicts with what landed meanwhile: users.
        Merge the branch yourself and resolve the conflict, or resume for a new attempt.
        git merge landfast/r1.login

    ⊘ 1 skipped: docs

    Next: landfast logs login, landfast status, landfast resume r1
    "
  `);
});

test('a cancelled and an interrupted run say what is kept and how to go on', () => {
  expect(summaryText(cancelled().state(), INFO)).toMatchInlineSnapshot(`
    "accounts: The run was cancelled: 0 of 3 tasks succeeded.
      9.0 s  $0.00  landed 0  head 0001ccc

    ⊘ 3 cancelled: users, login, docs
        Work is kept in workspaces, on landfast/r1.users.

    Next: landfast status, landfast resume r1
    "
  `);
  expect(summaryText(interrupted().state(), INFO)).toMatchInlineSnapshot(`
    "accounts: The run was interrupted (SIGINT): 1 of 3 tasks succeeded; nothing is published yet.
      9.0 s  $0.00  landed 1  head 0004ccc

    ↩ 2 unfinished: login, docs
        Work is kept in workspaces, on landfast/r1.login.

    Next: landfast logs login, landfast status, landfast resume r1
    "
  `);
});

test('a blocked publication is told with its remedy', () => {
  expect(summaryText(publishBlocked().state(), INFO)).toMatchInlineSnapshot(`
    "accounts: The task succeeded; publishing needs you.
      8.0 s  $0.00  landed 1  head 0004ccc

    Publishing to main is blocked: src/users.ts has changes of yours that are not committed.
        git stash && git merge --ff-only landfast/r1 && git stash pop

    Next: landfast status
    "
  `);
});

test('what a gate printed on the combination with a target that moved stands below', () => {
  const why =
    'main moved meanwhile and gate tests is red on the combination.\nFAIL a\n(exit code 1)';
  const run = publishBlocked().add({
    type: 'publish.blocked',
    why,
    remedy: 'git merge landfast/r1',
  });
  for (const text of [
    summaryText(run.state(), INFO),
    statusText(run.state(), { ...INFO, now: 0, live: false }),
  ]) {
    expect(text).toContain(
      'is red on the combination.\n    | FAIL a\n    | (exit code 1)\n    git merge landfast/r1\n',
    );
  }
});

test('three hundred failures stay short', () => {
  const ids = Array.from({ length: 300 }, (_, index) => `t${index}`);
  const run = new JournalBuilder(ids.map((id) => ({ id })));
  for (const id of ids) run.giveUp(id, { kind: 'auth', message: 'Not signed in.' });
  const text = summaryText(run.end('failed').state(), INFO);
  expect(text.split('\n').length).toBeLessThan(60);
  expect(text).toContain('… and 290 more failed');
});

test('hostile text stays on its line and sends no control', () => {
  const text = summaryText(hostile().state(), INFO);
  expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
  expect(text.split('\n').filter((line) => line.length > 400)).toEqual([]);
});

test('the exit code is 0 only where all is good and published', () => {
  const runs = { allSucceeded, retriedOnce, deniedAndOutside, redTogether, publishBlocked };
  const codes = Object.entries(runs).map(([name, run]) => [name, exitCodeOf(run().state())]);
  expect(Object.fromEntries(codes)).toEqual({
    allSucceeded: 0,
    retriedOnce: 0,
    deniedAndOutside: 0,
    redTogether: 1,
    publishBlocked: 1,
  });
  expect(exitCodeOf(cancelled().state())).toBe(1);
  expect(exitCodeOf(interrupted().state())).toBe(1);
});

test('work that landed and is not published is not success', () => {
  const run = new JournalBuilder([{ id: 'a' }]).start('a').finish('a').land('a');
  expect(exitCodeOf(run.end('failed').state())).toBe(1);
});

test('a plan that does not publish succeeds without it', () => {
  const { landing } = allSucceeded().state().plan;
  const run = new JournalBuilder([{ id: 'a' }], { landing: { ...landing, publish: 'off' } });
  expect(exitCodeOf(run.start('a').finish('a').land('a').end('succeeded').state())).toBe(0);
});

test('only conflicts, and what was skipped for them, have the exit code of conflicts', () => {
  expect(exitCodeOf(conflicted({ conflictExit: 3 }).state())).toBe(3);
  expect(exitCodeOf(conflicted({ conflictExit: 1 }).state())).toBe(1);
});

test('a conflict beside another failure is a failure', () => {
  const { conventions } = conflicted({ conflictExit: 3 }).state().plan;
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b' }], { conventions });
  run.giveUp('a', CONFLICT).giveUp('b', RED).end('failed');
  expect(exitCodeOf(run.state())).toBe(1);
});

test('work that stays on its branch is listed, and a push that failed has its command', () => {
  const landing = { strategy: 'none', push: 'origin' } as const;
  const state = delivered(landing).state();
  expect(exitCodeOf(state)).toBe(1);
  expect(summaryText(state, INFO)).toMatchInlineSnapshot(`
    "accounts: 1 of 2 tasks failed, 1 succeeded.
      10 s  $0.00  delivered 1

    ✓ users  on branch landfast/r1.users (pushed to origin)

    ✗ login  push-failed: landfast/r1.login could not be pushed to origin: no.
        Its work is on its branch. Push it yourself, or fix what stopped the push and resume.
        git push -u origin landfast/r1.login

    Next: landfast logs login, landfast status, landfast resume r1
    "
  `);
  expect(statusText(state, { ...INFO, now: 0, live: false })).toMatchInlineSnapshot(`
    "accounts  r1  failed
    10 s  $0.00  delivered 1/2  head 0001ccc, for main

    ✓ users  delivered  #1  1.0 s  on branch landfast/r1.users (pushed to origin)
    ✗ login  failed     #1  1.0 s  push-failed: landfast/r1.login could not be pushed to origin: no.
    "
  `);
  expect(reportMarkdown(state, INFO)).toContain(
    '## What is on its branch\n\n- `users` on branch `landfast/r1.users` at `0002ccc`, pushed to `origin`',
  );
  expect(
    reportJson(state, INFO).tasks.map(({ commit, branch, pushed }) => [commit, branch, pushed]),
  ).toEqual([
    [`0002${'c'.repeat(36)}`, 'landfast/r1.users', 'origin'],
    [null, null, null],
  ]);
  expect(planText(state.plan, { format: 'native', maxWorkers: 4 })).toContain(
    'Landing: none: work stays on its branch, pushed to origin; verify each',
  );
});

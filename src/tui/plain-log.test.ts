/** One line per notable fact. */

import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import {
  cancelled,
  delivered,
  deniedAndOutside,
  hostile,
  interrupted,
  publishBlocked,
  redTogether,
  retriedOnce,
} from '../../test/support/runs.ts';
import { apply } from '../model/fold.ts';
import type { RunState, TaskState, Wait } from '../model/state.ts';
import { plainLine } from './plain-log.ts';

const clock = (at: number) => new Date(at).toISOString().slice(11, 19);

function linesOf(run: JournalBuilder, waitOf?: (task: TaskState) => Wait | null): string[] {
  const lines: (string | null)[] = [];
  let state: RunState | null = null;
  for (const entry of run.entries) {
    state = apply(state, entry);
    lines.push(plainLine(entry, state, waitOf === undefined ? { clock } : { clock, waitOf }));
  }
  return lines.filter((line) => line !== null);
}

test('a retry is announced with its pause where the caller knows it', () => {
  const waitOf = ({ status }: TaskState): Wait | null =>
    status.kind === 'stopped' ? { kind: 'retry', until: status.at + 2000 } : null;
  expect(linesOf(retriedOnce(), waitOf)).toMatchInlineSnapshot(`
    [
      "12:00:00  (run)      started accounts: 1 task from 0001ccc for main",
      "12:00:01  users      attempt 1 started (claude)",
      "12:00:04  users      attempt 1 failed, rate-limited: Too many requests. (retry in 2.0 s)",
      "12:00:07  users      attempt 2 started (claude, continues)",
      "12:00:10  users      attempt 2 finished after 3.0 s, 1 file",
      "12:00:11  users      landing onto 0001ccc",
      "12:00:12  users      gate tests green after 3.2 s",
      "12:00:13  users      landed as 0004ccc (1 file)",
      "12:00:14  (publish)  publishing 0004ccc",
      "12:00:15  (publish)  main is at 0004ccc, checkout updated",
      "12:00:16  (run)      The task succeeded; main is at 0004ccc. 16 s, $0.30",
    ]
  `);
});

test('a red combination is told from gate to skipped tasks', () => {
  expect(linesOf(redTogether()).slice(-10)).toMatchInlineSnapshot(`
    [
      "12:00:12  login      landing onto 0004ccc",
      "12:00:13  login      gate tests red after 3.2 s
                $ npm test  (exit code 1)
                | FAIL test/auth.test.ts
                |   expected 200, got 500
                Full output: landfast logs login --gate tests",
      "12:00:14  login      gate tests green on the work alone after 1.6 s",
      "12:00:15  login      did not land, gate-failed: Gate tests is red on the combination.",
      "12:00:16  login      failed for good after 1 attempt (gate-failed)",
      "12:00:17  docs       skipped: needs login",
      "12:00:19  login      kept: its work has not landed",
      "12:00:20  (publish)  publishing 0004ccc",
      "12:00:21  (publish)  main is at 0004ccc, checkout updated",
      "12:00:22  (run)      1 of 3 tasks failed, 1 skipped, 1 succeeded; main is at 0004ccc. 22 s, $0.75",
    ]
  `);
});

test('stopping and cancelling are told', () => {
  expect(linesOf(cancelled())).toMatchInlineSnapshot(`
    [
      "12:00:00  (run)      started accounts: 3 tasks from 0001ccc for main",
      "12:00:01  users      attempt 1 started (claude)",
      "12:00:02  (run)      cancelling, work is kept (landfast cancel)",
      "12:00:03  users      attempt 1 failed, cancelled: Cancelled; its work so far is kept.",
      "12:00:04  users      cancelled",
      "12:00:05  login      cancelled",
      "12:00:06  docs       cancelled",
      "12:00:08  users      kept: its work has not landed",
      "12:00:09  (run)      The run was cancelled: 0 of 3 tasks succeeded. 9.0 s, $0.00",
    ]
  `);
  expect(linesOf(interrupted()).slice(-3)).toMatchInlineSnapshot(`
    [
      "12:00:07  (run)      ending agents, their work is kept (SIGINT)",
      "12:00:08  login      attempt 1 failed, interrupted: The engine was ended.",
      "12:00:09  (run)      The run was interrupted (SIGINT): 1 of 3 tasks succeeded; nothing is published yet. 9.0 s, $0.00",
    ]
  `);
});

test('what a person asks for is told', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b' }]);
  run.add({ type: 'run.paused', suspended: false }).add({ type: 'run.paused', suspended: true });
  run.add({ type: 'run.continued' }).add({ type: 'task.skipped', task: 'a', satisfied: true });
  run.giveUp('a', { kind: 'skipped', message: 'Given up.' });
  run.add({ type: 'task.skipped', task: 'b', satisfied: false });
  run.add({ type: 'task.retried', task: 'b', fresh: false });
  run.add({ type: 'task.retried', task: 'b', fresh: true });
  expect(linesOf(run).slice(1)).toMatchInlineSnapshot(`
    [
      "12:00:01  (run)      paused: no new attempts, running agents continue",
      "12:00:02  (run)      paused: no new attempts, running agents are suspended",
      "12:00:03  (run)      continues",
      "12:00:04  a          given up, counted as done",
      "12:00:05  a          skipped",
      "12:00:06  b          given up",
      "12:00:07  b          will be retried",
      "12:00:08  b          will be retried from the start",
    ]
  `);
});

test('a blocked publication is told with what to do', () => {
  expect(linesOf(publishBlocked()).slice(-3)).toMatchInlineSnapshot(`
    [
      "12:00:06  (publish)  publishing aaaaaaa",
      "12:00:07  (publish)  blocked: src/users.ts has changes of yours that are not committed. To do: git stash && git merge --ff-only landfast/r1 && git stash pop",
      "12:00:08  (run)      The task succeeded; publishing needs you. 8.0 s, $0.00",
    ]
  `);
});

test('denied tools and files outside the scope are told', () => {
  expect(linesOf(deniedAndOutside()).slice(1, 8)).toMatchInlineSnapshot(`
    [
      "12:00:01  review     attempt 1 started (claude)",
      "12:00:02  review     tool denied: Bash",
      "12:00:03  review     tool denied: Bash",
      "12:00:04  review     tool denied: WebFetch",
      "12:00:05  review     attempt 1 finished after 4.0 s, nothing to land",
      "12:00:06  users      attempt 1 started (claude)",
      "12:00:07  users      attempt 1 finished after 1.0 s, 1 file; outside its scope: README.md",
    ]
  `);
});

test('a resumed run, a rework and a gate of the publication are told', () => {
  const run = new JournalBuilder([{ id: 'ユーザー' }, { id: 'b' }]).start('ユーザー');
  run.add({ type: 'run.resumed', retry: ['ユーザー'] }).start('ユーザー', 'rework');
  run.start('b').gate(null, true);
  expect(linesOf(run).slice(2)).toMatchInlineSnapshot(`
    [
      "12:00:02  (run)      resumed; retrying: ユーザー",
      "12:00:03  ユーザー   attempt 2 started (claude, reworks what did not land)",
      "12:00:04  b          attempt 1 started (claude)",
      "12:00:05  (publish)  gate tests green after 3.2 s",
    ]
  `);
});

test('one entry is one line without controls, however hostile; what failed stands below', () => {
  for (const told of linesOf(hostile())) {
    const [line = '', ...below] = told.split('\n');
    expect(line).toMatch(/^\d\d:\d\d:\d\d {2}[^\x00-\x1f\x7f-\x9f\u2028-\u202e]+$/);
    expect(line.length).toBeLessThan(600);
    expect(below.length).toBeLessThanOrEqual(17);
    for (const each of below) {
      expect(each).toMatch(/^ {12}(?:[$|]|Full output:) [^\x00-\x1f\x7f-\x9f\u2028-\u202e]+$/);
      expect(each.length).toBeLessThan(200);
    }
  }
});

test('work that stays on its branch is delivered, not landed', () => {
  const run = delivered({ strategy: 'none', push: 'origin' });
  expect(linesOf(run)).toMatchInlineSnapshot(`
    [
      "12:00:00  (run)      started accounts: 2 tasks from 0001ccc for main",
      "12:00:01  users      attempt 1 started (claude)",
      "12:00:02  users      attempt 1 finished after 1.0 s, 1 file",
      "12:00:03  users      delivering",
      "12:00:04  users      on branch landfast/r1.users (pushed to origin) (1 file)",
      "12:00:05  login      attempt 1 started (claude)",
      "12:00:06  login      attempt 1 finished after 1.0 s, 1 file",
      "12:00:07  login      delivering",
      "12:00:08  login      was not delivered, push-failed: landfast/r1.login could not be pushed to origin: no.",
      "12:00:09  login      failed for good after 1 attempt (push-failed)",
      "12:00:10  (run)      1 of 2 tasks failed, 1 succeeded. 10 s, $0.00",
    ]
  `);
});

test('the lines say whether set-up ran', () => {
  const run = new JournalBuilder([{ id: 'a' }]).start('a');
  const prepared = { type: 'attempt.prepared', task: 'a', attempt: 1 } as const;
  run.add({ ...prepared, setup: 'ran', ms: 12_000 }).add({ ...prepared, setup: 'kept', ms: 20 });
  run.add({ ...prepared, setup: 'seeded', ms: 800 });
  run.add({ ...prepared, setup: 'ran', ms: 12_000, why: 'workspace.seed does not name .env' });
  expect(linesOf(run).slice(-4)).toEqual([
    '12:00:02  a          set-up done after 12 s',
    '12:00:03  a          set-up skipped: key unchanged',
    '12:00:04  a          set-up skipped: key unchanged, copied from a seed in 0.8 s',
    '12:00:05  a          set-up done after 12 s; no seed: workspace.seed does not name .env',
  ]);
});

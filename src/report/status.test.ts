import { expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import {
  allSucceeded,
  conflicted,
  hostile,
  interrupted,
  publishBlocked,
} from '../../test/support/runs.ts';
import type { Wait } from '../model/state.ts';
import { runRow, runsText, statusJson, statusText } from './status.ts';

/** What `status` and `runs` show. */

const NOW = START + 60_000;

/** One task for every reason to wait, and one in every place of its life. */
function busy(): JournalBuilder {
  const run = new JournalBuilder(
    [
      { id: 'landed' },
      { id: 'queued' },
      { id: 'landing' },
      { id: 'running', group: 'db', writes: ['src/a/**'] },
      { id: 'limited' },
      { id: 'retrying' },
      { id: 'grouped', group: 'db' },
      { id: 'overlapping', writes: ['src/**'] },
      { id: 'needing', needs: ['running', 'queued'] },
      { id: 'next' },
      { id: 'slotless' },
      { id: 'failed' },
      { id: 'skipped', needs: ['failed'] },
    ],
    { limits: { workers: 2, gates: 1, groups: { db: 1 } } },
  );
  run.start('landed').use('landed', 0.5).finish('landed').land('landed');
  run.start('queued').finish('queued').start('landing').finish('landing').merge('landing');
  run.start('running').use('running', 0.004);
  run.start('limited').fail('limited', {
    kind: 'rate-limited',
    message: 'Limit reached.',
    retryAt: NOW + 90_000,
  });
  run.start('retrying').fail('retrying', { kind: 'transient', message: 'Overloaded.' });
  run.start('failed').fail('failed', { kind: 'auth', message: 'Not signed in.' });
  run.giveUp('failed', { kind: 'auth', message: 'Not signed in.' });
  return run.skip('skipped', 'failed').keep('failed', 'it holds changes that are in no commit');
}

const WAITS: ReadonlyMap<string, Wait> = new Map<string, Wait>([
  ['limited', { kind: 'limit', agent: 'claude', until: NOW + 90_000 }],
  ['retrying', { kind: 'retry', until: NOW + 2000 }],
  ['grouped', { kind: 'group', group: 'db', busy: 1, limit: 1 }],
  ['overlapping', { kind: 'scope', task: 'running' }],
  ['needing', { kind: 'needs', tasks: ['running', 'queued'] }],
  ['slotless', { kind: 'slot', workers: 2 }],
]);

test('every task says where it is and what it waits for', () => {
  const text = statusText(busy().state(), {
    run: 'r1',
    now: NOW,
    live: true,
    actions: new Map([['running', 'Edit src/a/x.ts']]),
    waits: WAITS,
  });
  expect(text).toMatchInlineSnapshot(`
    "accounts  r1  running
    1 m 00 s  $0.50  landed 1/13  head 0004ccc, for main

    ✓ landed       landed    #1  3.0 s   $0.50  as 0004ccc
    ○ queued       queued    #1  1.0 s          waits to land
    ◍ landing      landing   #1  1.0 s          is being built, on 0004ccc
    ● running      running   #1   47 s  <$0.01  Edit src/a/x.ts
    ↻ limited      retrying  #1  1.0 s          waits: claude is at its limit until 12:02 UTC: rate-limited: Limit reached.
    ↻ retrying     retrying  #1  1.0 s          retry in 2.0 s: transient: Overloaded.
    · grouped      waiting                      group db (1 of 1 busy)
    · overlapping  waiting                      overlaps with running
    · needing      waiting                      needs running, queued
    · next         waiting                      its turn
    · slotless     waiting                      a worker slot (2 of 2 busy)
    ✗ failed       failed    #1  1.0 s          auth: Not signed in.
    ⊘ skipped      skipped                      needs failed

    Landing queue: landing is being built · queued waits for its turn
    Workspace kept: failed (it holds changes that are in no commit)
    "
  `);
});

test('text and JSON agree', () => {
  const json = statusJson(busy().state(), { run: 'r1', now: NOW, live: true });
  expect(json.queue).toEqual(['landing', 'queued']);
  expect(json.tasks[3]).toMatchInlineSnapshot(`
    {
      "attempt": 1,
      "cost_usd": 0.004,
      "denied": [],
      "detail": "",
      "elapsed_sec": 47,
      "failed": null,
      "id": "running",
      "instructions": [],
      "kept_why": null,
      "outside_scope": [],
      "paused": false,
      "settled": [],
      "silent_sec": null,
      "state": "running",
      "waits_for": null,
      "workspace": "live",
    }
  `);
});

test('a run that nobody works on says how to go on', () => {
  expect(
    statusText(interrupted().state(), { run: 'r1', now: NOW, live: false }),
  ).toMatchInlineSnapshot(`
    "accounts  r1  interrupted
    9.0 s  $0.00  landed 1/3  head 0004ccc, for main

    ✓ users  landed       #1  1.0 s  as 0004ccc
    ↩ login  stopped      #1  2.0 s  interrupted: The engine was ended.
    ↩ docs   not started

    No engine is driving this run. Continue: landfast resume r1
    "
  `);
});

test('a finished run shows how it was published, or why not', () => {
  const info = { run: 'r1', now: NOW, live: false };
  expect(statusText(allSucceeded().state(), info)).toContain('Published to main at 000accc');
  expect(statusText(publishBlocked().state(), info)).toContain('Publishing is blocked: src/users');
});

test('hostile text sends no control and adds no line but to what failed, where it is marked', () => {
  const text = statusText(hostile().state(), { run: 'r1', now: NOW, live: false });
  expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
  const lines = text.split('\n');
  expect(lines.filter((line) => !line.startsWith('    | '))).toHaveLength(13);
});

test('the list of runs has one line a run', () => {
  const rows = [
    runRow(busy().state(), 'r3'),
    runRow(conflicted().state(), 'r2'),
    runRow(new JournalBuilder([{ id: 'a' }], { name: '口座' }).state(), 'r1'),
  ];
  const time = (ms: number) => new Date(ms).toISOString().slice(0, 16);
  expect(runsText(rows, { time })).toMatchInlineSnapshot(`
    "RUN  PLAN      STARTED           OUTCOME  TASKS                COST
    r3   accounts  2026-07-01T12:00  live     1/13 good, 1 failed  $0.50
    r2   accounts  2026-07-01T12:00  failed   1/3 good, 1 failed   $0.75
    r1   口座        2026-07-01T12:00  live     0/1 good             $0.00
    "
  `);
  expect(runsText([], { time })).toBe('No runs yet.\n');
});

test('an agent is stale when it has been silent for longer than it may be, and only then', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b' }, { id: 'c' }]).start('a').start('b');
  const state = run.state();
  const now = state.at + 400_000;
  const lastActivityAt = new Map([
    ['a', now - 300_001],
    ['b', now - 300_000],
  ]);
  const liveness = { lastActivityAt, staleMs: 300_000 };
  const actions = new Map([['a', 'Bash npm test']]);
  const { tasks } = statusJson(state, { run: 'r1', now, live: true, actions, liveness });
  expect(tasks.map(({ state: word, silent_sec, detail }) => [word, silent_sec, detail])).toEqual([
    ['stale', 300, 'silent for 5 m 00 s after: Bash npm test'],
    ['running', 300, ''],
    ['waiting', null, expect.any(String)],
  ]);
});

test('an agent that has said nothing yet is silent since its attempt began', () => {
  const state = new JournalBuilder([{ id: 'a' }]).start('a').state();
  const liveness = { lastActivityAt: new Map<string, number>(), staleMs: 1_000 };
  const { tasks } = statusJson(state, { run: 'r1', now: state.at + 2_000, live: true, liveness });
  expect(tasks[0]).toMatchObject({ state: 'stale', silent_sec: 2, detail: 'silent for 2.0 s' });
});

test('a paused run says so, what stands still, and how to go on', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }]).start('a');
  run.add({ type: 'task.skipped', task: 'c', satisfied: true });
  run.giveUp('c', { kind: 'skipped', message: 'Given up.' });
  run.giveUp('d', { kind: 'auth', message: 'Not signed in.' });
  run.add({ type: 'task.skipped', task: 'd', satisfied: false });
  run.add({ type: 'run.paused', suspended: true });
  const info = { run: 'r1', now: NOW, live: true };
  expect(statusText(run.state(), info)).toMatchInlineSnapshot(`
    "accounts  r1  paused, agents suspended
    1 m 00 s  $0.00  landed 0/4  head 0001ccc, for main

    ‖ a  suspended  #1  59 s  halted
    · b  waiting              the run is paused
    ⊘ c  skipped              given up; taken as done
    ⊘ d  skipped              given up after it failed (auth)

    The run is paused. Continue: landfast resume r1
    "
  `);
  expect(statusJson(run.state(), info)).toMatchObject({ paused: { suspended: true }, skipped: 2 });
  expect(runRow(run.state(), 'r1').outcome).toBe('paused');
});

test('a run that waits for the disk says so, for how much, and that it goes on by itself', () => {
  const run = new JournalBuilder([{ id: 'a' }, { id: 'b', needs: ['a'] }]);
  run.add({ type: 'run.held', of: 'disk-budget', why: 'Runs take 3 GB of 2 GB (limits.disk).' });
  const why = 'Runs take 3 GB of 2 GB (limits.disk).';
  const waits = new Map<string, Wait>([
    ['a', { kind: 'room', of: 'disk-budget', why }],
    ['b', { kind: 'needs', tasks: ['a'] }],
  ]);
  const info = { run: 'r1', now: START + 2_000, live: true, waits };
  const text = statusText(run.state(), info);
  expect(text).toContain('accounts  r1  waits for its disk budget');
  expect(text).toContain('its disk budget: Runs take 3 GB of 2 GB (limits.disk).');
  expect(text).toContain('needs a');
  expect(text).toContain(
    'The run waits for its disk budget and continues by itself: Runs take 3 GB',
  );
  expect(text).toContain(
    '`landfast cleanup` makes room; or end the run and resume it with `--disk',
  );
  expect(statusText(run.add({ type: 'run.eased' }).state(), info)).toContain('r1  running');
});

/** Frames of the live view, as text. */

import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { JournalBuilder, START } from '../../test/support/journal-builder.ts';
import { HOSTILE, hostile, interrupted, redTogether } from '../../test/support/runs.ts';
import type { Wait } from '../model/state.ts';
import { frame, type LiveView } from './live.ts';

const NOW = START + 125_000;

const WAITS: ReadonlyMap<string, Wait> = new Map<string, Wait>([
  ['mail', { kind: 'limit', agent: 'claude', until: NOW + 90_500 }],
  ['docs', { kind: 'needs', tasks: ['login'] }],
]);

function view(run: JournalBuilder, more: Partial<LiveView> = {}): LiveView {
  return {
    run: 'r1',
    state: run.state(),
    now: NOW,
    width: 80,
    height: 24,
    actions: new Map(),
    color: false,
    waits: WAITS,
    ...more,
  };
}

function midway(): JournalBuilder {
  return new JournalBuilder([
    { id: 'users' },
    { id: 'login', needs: ['users'] },
    { id: 'billing' },
    { id: 'mail' },
    { id: 'docs', needs: ['login'] },
  ])
    .start('users')
    .use('users', 0.31)
    .finish('users')
    .land('users')
    .start('login')
    .fail('login', { kind: 'transient', message: 'Overloaded.' })
    .start('login', 'continue')
    .use('login', 0.12)
    .start('billing')
    .finish('billing')
    .merge('billing')
    .start('mail')
    .fail('mail', { kind: 'rate-limited', message: 'Limit reached.', retryAt: NOW + 90_500 });
}

/** 300 tasks: 120 landed, 8 running, 2 failed, the rest waits. */
function crowd(): JournalBuilder {
  const ids = Array.from({ length: 300 }, (_, index) => `task-${index}`);
  const run = new JournalBuilder(ids.map((id) => ({ id })));
  for (const id of ids.slice(0, 120)) run.start(id).finish(id).land(id);
  for (const id of ids.slice(200, 208)) run.start(id).use(id, 0.01);
  for (const id of ids.slice(250, 252)) run.giveUp(id, { kind: 'auth', message: 'Not signed in.' });
  return run;
}

test('a run midway: each task with its symbol, time, attempt, action and cost', () => {
  const actions = new Map([['login', 'Edit src/auth/login.ts']]);
  expect(shown(view(midway(), { actions }))).toMatchInlineSnapshot(`
    "accounts  r1                                         2 m 05 s  $0.43  landed 1/5
    ███████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  1 of 5, about 40 s left
    1 running, 1 landing, 1 to retry, 1 waiting, 1 good, head 0004ccc for main
    ✓ users       3.0 s     as 0004ccc                                         $0.31
    ⠋ login    1 m 55 s #2  Edit src/auth/login.ts                             $0.12
    ⠋ billing     1.0 s     is being built, on 0004ccc
    ↻ mail        1.0 s     waits: claude is at its limit until 12:03 UTC: rate-lim…
    · docs                  needs login
    queue: billing is being built"
  `);
});

test('the queue has a line of its own: who is in which gate, and who waits', () => {
  const run = midway().start('docs').finish('docs');
  const tree = 'b'.repeat(40);
  run.add({ type: 'candidate.built', task: 'billing', commit: tree, tree });
  run.add({ type: 'candidate.verifying', task: 'billing', commit: tree });
  run.add({ type: 'gate.started', task: 'billing', gate: 'tests', tree });
  expect(shown(view(run)).split('\n').slice(5)).toMatchInlineSnapshot(`
    [
      "⠋ billing     1.0 s     in gate tests for 1 m 43 s, on 0004ccc",
      "↻ mail        1.0 s     waits: claude is at its limit until 12:03 UTC: rate-lim…",
      "○ docs        1.0 s     waits to land",
      "queue: billing in gate tests for 1 m 43 s · docs waits for its turn",
    ]
  `);
});

test('who collides with whom is a table where there is room, else a line', () => {
  const run = midway().add({ type: 'radar.conflict', a: 'login', b: 'billing', files: ['a.ts'] });
  expect(shown(view(run)).split('\n').slice(8)).toMatchInlineSnapshot(`
    [
      "queue: billing is being built",
      "radar: will conflict: login × billing",
      "           login  billing",
      "  login           x",
      "  billing  x",
    ]
  `);
  const low = shown(view(run, { height: 11 })).split('\n');
  expect(low).toHaveLength(10);
  expect(low.at(-1)).toBe('radar: will conflict: login × billing');
});

test('at thirty columns times and costs make room', () => {
  const actions = new Map([['login', 'Edit src/auth/login.ts']]);
  expect(shown(view(midway(), { actions, width: 30 }))).toMatchInlineSnapshot(`
    "2 m 05 s  $0.43  landed 1/5  …
    1 of 5, about 40 s left
    1 running, 1 landing, 1 to re…
    ✓ users   as 0004ccc
    ⠋ login   Edit src/auth/login…
    ⠋ billing is being built, on …
    ↻ mail    waits: claude is at…
    · docs    needs login
    queue: billing is being built"
  `);
});

test('of three hundred tasks those that move come first, the finished are a number', () => {
  expect(shown(view(crowd(), { now: START + 700_000 }))).toMatchInlineSnapshot(`
    "accounts  r1                                    11 m 40 s  $0.08  landed 120/300
    ████████████████████▒░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  120 of 300, about 2 m left
    8 running, 170 waiting, 2 failed, 120 good, head 0169ccc for main
    ⠋ task-200  1 m 39 s                                                       $0.01
    ⠋ task-201  1 m 36 s                                                       $0.01
    ⠋ task-202  1 m 33 s                                                       $0.01
    ⠋ task-203  1 m 30 s                                                       $0.01
    ⠋ task-204  1 m 27 s                                                       $0.01
    ⠋ task-205  1 m 24 s                                                       $0.01
    ⠋ task-206  1 m 21 s                                                       $0.01
    ⠋ task-207  1 m 18 s                                                       $0.01
    ✗ task-250               auth: Not signed in.
    ✗ task-251               auth: Not signed in.
    · 170 tasks  its turn  task-120, task-121, task-122, task-123, task-124, task-1…
    ✓ 120 finished"
  `);
});

const LONG = 'users-table-with-a-name-that-nobody-would-type';

/** Two of two workers are busy; five tasks wait for a slot, one for another task. */
function busy(): { readonly run: JournalBuilder; readonly waits: ReadonlyMap<string, Wait> } {
  const run = new JournalBuilder([
    { id: `${LONG}-alpha`, title: 'Add the users table and its model' },
    { id: `${LONG}-beta` },
    ...['mail', 'docs', 'ship', 'trim'].map((id) => ({ id })),
    { id: 'login', needs: ['mail'], title: 'A login page' },
    { id: 'last' },
  ]);
  run.start(`${LONG}-alpha`).start(`${LONG}-beta`);
  const slot = ['mail', 'docs', 'ship', 'trim', 'last'].map(
    (id) => [id, { kind: 'slot', workers: 2 }] as const,
  );
  return { run, waits: new Map<string, Wait>([...slot, ['login', WAITS.get('docs')!]]) };
}

test('what several tasks wait for is said once; ids are cut in the middle', () => {
  const { run, waits } = busy();
  expect(shown(view(run, { waits }))).toMatchInlineSnapshot(`
    "accounts  r1                                         2 m 05 s  $0.00  landed 0/8
    ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  0 of 8
    2 running, 6 waiting, head 0001ccc for main
    ⠋ users-table-wi…ld-type-alpha  2 m 04 s     Add the users table and its model
    ⠋ users-table-wi…uld-type-beta  2 m 03 s
    · 5 tasks  a worker slot (2 of 2 busy)  mail, docs, ship, trim, last
    · login                                      needs login"
  `);
});

test('a wide window has titles in a column of their own', () => {
  const { run, waits } = busy();
  const actions = new Map([[`${LONG}-alpha`, 'Edit src/users.ts']]);
  expect(shown(view(run, { waits, actions, width: 150 }))).toMatchInlineSnapshot(`
    "accounts  r1                                                                                                               2 m 05 s  $0.00  landed 0/8
    ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  0 of 8
    2 running, 6 waiting, head 0001ccc for main
    ⠋ users-table-with-a-name-that-nobody-would-type-alpha Add the users table and its model  2 m 04 s     Edit src/users.ts
    ⠋ users-table-with-a-name-that-nobody-would-type-beta                                     2 m 03 s
    · 5 tasks  a worker slot (2 of 2 busy)  mail, docs, ship, trim, last
    · login                                                A login page                                    needs login"
  `);
});

test('CJK and emoji keep the columns', () => {
  const run = new JournalBuilder([{ id: 'ユーザー登録' }, { id: '🚀-launch' }], {
    name: '口座 🏦',
  });
  run.start('ユーザー登録').use('ユーザー登録', 0.5).start('🚀-launch').use('🚀-launch', 0.25);
  const actions = new Map([['ユーザー登録', 'ファイルを編集しています 👩‍👩‍👧‍👦']]);
  expect(shown(view(run, { actions, width: 64 }))).toMatchInlineSnapshot(`
    "口座 🏦  r1                          2 m 05 s  $0.75  landed 0/2
    ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  0 of 2
    2 running, head 0001ccc for main
    ⠋ ユーザー登録  2 m 04 s     ファイルを編集しています 👩‍👩‍👧‍👦   $0.50
    ⠋ 🚀-launch     2 m 01 s                                   $0.25"
  `);
});

test('failed, skipped and stopped tasks', () => {
  expect(shown(view(redTogether()))).toMatchInlineSnapshot(`
    "accounts  r1                                             22 s  $0.75  landed 1/3
    1 failed, 1 skipped, 1 good, head 0004ccc for main
    ✓ users     3.0 s     as 0004ccc                                           $0.25
    ✗ login     3.0 s     gate-failed: Gate tests is red on the combination.   $0.50
    ⊘ docs                needs login
    ✗ login
      $ npm test  (exit code 1)
      | FAIL test/auth.test.ts
      |   expected 200, got 500
      Full output: landfast logs login --gate tests"
  `);
  expect(shown(view(interrupted()))).toMatchInlineSnapshot(`
    "accounts  r1                                            9.0 s  $0.00  landed 1/3
    ending (SIGINT)  1 to retry, 1 waiting, 1 good, head 0004ccc for main
    ✓ users     1.0 s     as 0004ccc
    ↩ login     2.0 s     interrupted: The engine was ended.
    ↩ docs                not started"
  `);
});

test('the spinner turns with the time and nothing else does', () => {
  const run = midway();
  const one = frame(view(run));
  const other = frame(view(run, { now: NOW + 100 }));
  expect(one.map((line) => line.replace(/^[⠀-⣿]/u, '⠿'))).toEqual(
    other.map((line) => line.replace(/^[⠀-⣿]/u, '⠿')),
  );
  expect(one).not.toEqual(other);
});

test('a frame fits any window, coloured or not, hostile or not', () => {
  const runs = [midway(), crowd(), hostile(), redTogether(), interrupted()];
  const actions = new Map([['login', HOSTILE.repeat(100)]]);
  for (const run of runs) {
    for (const width of [1, 2, 5, 12, 30, 44, 63, 64, 80, 200]) {
      for (const height of [0, 1, 2, 3, 4, 5, 24]) {
        const lines = frame(view(run, { width, height, actions, color: width % 2 === 0 }));
        expect(lines.length).toBeLessThanOrEqual(height);
        for (const line of lines) {
          expect(stringWidth(line)).toBeLessThanOrEqual(width);
          expect(line.replace(/\x1b\[\d+m/g, '')).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e]/);
        }
      }
    }
  }
});

test('a frame of three hundred tasks is quick', () => {
  const run = view(crowd());
  frame(run);
  const started = performance.now();
  for (let n = 0; n < 20; n += 1) frame(run);
  expect((performance.now() - started) / 20).toBeLessThan(50);
});

function shown(live: LiveView): string {
  return frame(live).join('\n');
}

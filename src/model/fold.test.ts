import { describe, expect, test } from 'vitest';
import { JournalBuilder, planOf, START, taskSpec } from '../../test/support/journal-builder.ts';
import { delivered } from '../../test/support/runs.ts';
import type { Failure } from './failure.ts';
import { apply, fold } from './fold.ts';
import { costOf, isGood, isMet, isOver, type Status, taskCost } from './state.ts';

const sha = (nth: number): string => nth.toString(16).padStart(4, '0').padEnd(40, 'c');
const FAILURE: Failure = { kind: 'transient', message: 'Overloaded.' };
const journal = () => new JournalBuilder([{ id: 'a' }, { id: 'b' }]);
const statusOf = (run: JournalBuilder): Status => run.state().tasks.get('a')!.status;

test('a run begins with its plan, and nothing else', () => {
  const task = {
    status: { kind: 'waiting' },
    attempts: [],
    reworks: 0,
    forgiven: 0,
    cancelled: false,
    paused: false,
    instructions: [],
    skipped: null,
    retried: null,
    carried: false,
    work: null,
    session: null,
    gates: [],
    settled: [],
    rejections: [],
    proved: null,
    workspace: 'none',
    removed: false,
    mended: false,
    keptWhy: null,
  };
  expect(journal().state()).toEqual({
    seq: 1,
    plan: planOf([{ id: 'a' }, { id: 'b' }]),
    planHash: 'f'.repeat(64),
    base: sha(1),
    target: 'main',
    head: sha(1),
    tasks: new Map([
      ['a', { spec: taskSpec({ id: 'a' }), ...task }],
      ['b', { spec: taskSpec({ id: 'b' }), ...task }],
    ]),
    agents: new Map(),
    landed: [],
    queue: [],
    landing: null,
    lingering: [],
    radar: { collisions: [], clashes: [] },
    findings: [],
    stopping: null,
    paused: null,
    attended: false,
    held: null,
    proven: new Set(),
    broken: null,
    publish: { kind: 'none' },
    outcome: null,
    startedAt: START,
    finishedAt: null,
    at: START,
  });
});

test('a task goes from waiting to landed', () => {
  const run = journal();
  const seen: Status[] = [statusOf(run)];
  seen.push(statusOf(run.start('a')));
  seen.push(statusOf(run.finish('a')));
  seen.push(statusOf(run.merge('a')));
  seen.push(statusOf(run.add({ type: 'merge.landed', task: 'a', onto: sha(1), commit: sha(9) })));
  expect(seen).toEqual([
    { kind: 'waiting' },
    { kind: 'running' },
    { kind: 'committed', commit: sha(2), at: START + 2_000 },
    { kind: 'merging', commit: sha(2), onto: sha(1) },
    { kind: 'landed', commit: sha(9), at: START + 4_000 },
  ]);
  const { head, landed } = run.state();
  expect({ head, landed }).toEqual({
    head: sha(9),
    landed: [{ task: 'a', onto: sha(1), commit: sha(9), at: START + 4_000 }],
  });
});

test('a task that has nothing to land is done', () => {
  const run = journal().start('a').finish('a', { commit: null });
  expect(statusOf(run)).toEqual({ kind: 'done', at: START + 2_000 });
});

test('a stopped attempt has no work; rejected work is kept', () => {
  const stopped = { kind: 'stopped', failure: FAILURE };
  const failed = journal().start('a').fail('a', FAILURE);
  expect(statusOf(failed)).toEqual({ ...stopped, at: START + 2_000, work: null });
  const rejected = journal().start('a').finish('a').merge('a').reject('a', FAILURE);
  expect(statusOf(rejected)).toEqual({ ...stopped, at: START + 4_000, work: sha(2) });
});

test('an attempt remembers all that was said of it', () => {
  const run = journal().start('a').use('a', 0.25).use('a', 0.5, 2_000, 200).deny('a', 'Bash');
  run.fail('a', FAILURE, { status: { status: 'FAILED', reason: 'No.' } });
  const task = run.state().tasks.get('a')!;
  expect(task.attempts).toEqual([
    {
      attempt: 1,
      astray: [],
      start: { kind: 'fresh' },
      base: sha(1),
      startedAt: START + 1_000,
      endedAt: START + 7_000,
      tip: null,
      failure: FAILURE,
      exitCode: 1,
      by: { agent: 'claude' },
      reservedUsd: 0,
      costUsd: 0.5,
      inputTokens: 2_000,
      outputTokens: 200,
      denied: [{ tool: 'Bash' }],
      strayed: [],
      files: [],
      outside: [],
      empty: false,
      text: '',
      structured: null,
      status: { status: 'FAILED', reason: 'No.' },
    },
  ]);
  expect(task.session).toBe('session-of-a');
});

test('a fresh attempt forgets the session, another one keeps it', () => {
  const run = journal().start('a').use('a', 1).fail('a', FAILURE);
  expect(run.start('a', 'continue').state().tasks.get('a')!.session).toBe('session-of-a');
  expect(run.start('a').state().tasks.get('a')!.session).toBeNull();
});

test('costs are added over attempts and tasks', () => {
  const run = journal().start('a').use('a', 1).fail('a', FAILURE);
  const state = run.start('a').use('a', 2).start('b').use('b', 4).state();
  expect([taskCost(state.tasks.get('a')!), costOf(state)]).toEqual([3, 7]);
});

test('reworks, gates and the end of a workspace are remembered', () => {
  const run = journal().start('a').finish('a').merge('a').gate('a', false, 'red');
  run.reject('a', FAILURE).start('a', 'rework').giveUp('a', FAILURE).keep('a', 'Untracked files.');
  const { reworks, gates, workspace, keptWhy, status } = run.state().tasks.get('a')!;
  expect({ reworks, gates, workspace, keptWhy, status }).toEqual({
    reworks: 1,
    gates: [
      {
        gate: 'tests',
        tree: sha(3),
        ok: false,
        ms: 3_200,
        output: 'red',
        command: 'npm test',
        exitCode: 1,
      },
    ],
    workspace: 'kept',
    keptWhy: 'Untracked files.',
    status: { kind: 'failed', failure: FAILURE, at: START + 7_000 },
  });
});

test('a run that goes on has the limits that were set anew, and keeps the others', () => {
  const run = journal();
  const before = run.state().plan.limits;
  run.add({ type: 'run.resumed', retry: [], workers: 7, budgetUsd: 5, diskBytes: 2_000 });
  expect(run.state().plan.limits).toEqual({
    ...before,
    workers: 7,
    budgetUsd: 5,
    diskBytes: 2_000,
  });
  run.add({
    type: 'run.resumed',
    retry: [],
    diskFreeBytes: 0,
    memoryPerAttempt: 1,
    loadPerCore: 2,
  });
  expect(run.state().plan.limits).toEqual({
    ...{ ...before, workers: 7, budgetUsd: 5, diskBytes: 2_000 },
    ...{ diskFreeBytes: 0, memoryPerAttempt: 1, loadPerCore: 2 },
  });
});

test('a publication says which head it brought', () => {
  const run = journal().start('a').finish('a').land('a').publish();
  const commit = sha(4);
  const to = { target: 'main', commit, checkout: 'followed' };
  expect(run.state().publish).toEqual({ kind: 'finished', head: commit, ...to });
});

test('a resumed run forgets how it stopped, and the tasks named get a new chance', () => {
  const run = journal().start('a').fail('a', FAILURE).giveUp('a', FAILURE);
  run.add({ type: 'task.cancelled', task: 'a' });
  run.add({ type: 'publish.blocked', why: 'Changes.', remedy: 'git merge' });
  run.add({ type: 'run.stopping', mode: 'end', why: 'Asked for.' }).end('interrupted');
  const { stopping, outcome, finishedAt, publish, tasks } = run
    .add({ type: 'run.resumed', retry: ['a'] })
    .state();
  expect({ stopping, outcome, finishedAt, publish }).toEqual({
    stopping: null,
    outcome: null,
    finishedAt: null,
    publish: { kind: 'none' },
  });
  const { status, cancelled, forgiven, reworks } = tasks.get('a')!;
  expect({ status, cancelled, forgiven, reworks }).toEqual({
    status: { kind: 'waiting' },
    cancelled: false,
    forgiven: 1,
    reworks: 0,
  });
});

test('good is landed or done; over is good or failed', () => {
  const runs = [
    journal(),
    journal().start('a'),
    journal().start('a').finish('a'),
    journal().start('a').finish('a').land('a'),
    journal().start('a').finish('a', { commit: null }),
    journal().giveUp('a', FAILURE),
  ];
  const tasks = runs.map((run) => run.state().tasks.get('a')!);
  expect(tasks.map(isGood)).toEqual([false, false, false, true, true, false]);
  expect(tasks.map(isOver)).toEqual([false, false, false, true, true, true]);
});

test('a resumed run pushes what lacks nothing but the push, without another attempt', () => {
  const run = delivered({ strategy: 'none', push: 'origin' });
  const at = START + run.entries.length * 1000;
  run.add({ type: 'run.resumed', retry: ['login'] });
  const { tasks } = run.state();
  expect(tasks.get('users')?.status).toEqual({
    kind: 'delivered',
    commit: sha(2),
    branch: 'landfast/r1.users',
    pushed: 'origin',
    at: START + 4000,
  });
  expect(tasks.get('login')).toMatchObject({
    status: { kind: 'committed', commit: sha(3), at },
    forgiven: 1,
  });
});

describe('a journal that cannot be', () => {
  const started = journal().entries[0]!;

  test('is empty', () => {
    expect(() => fold([])).toThrow('a journal is never empty');
  });

  test('does not start at the start, or starts twice', () => {
    const ended = {
      seq: 1,
      at: START,
      event: { type: 'run.finished', outcome: 'failed' },
    } as const;
    expect(() => fold([ended])).toThrow('a journal starts with run.started, not run.finished');
    expect(() => fold([started, { ...started, seq: 2 }])).toThrow('a run starts once');
  });

  test('has a gap', () => {
    const state = fold([started]);
    expect(() => apply(state, { ...started, seq: 3 })).toThrow('journal gap: entry 3 after 1');
  });

  test('names an unknown task, or an attempt that never began', () => {
    const unknown = journal().start('z');
    expect(() => unknown.state()).toThrow('the journal names an unknown task: z');
    expect(() => journal().fail('a', FAILURE).state()).toThrow('task a has no attempt yet');
  });
});

describe('what a person asks for', () => {
  const retry = (fresh: boolean) => ({ type: 'task.retried', task: 'a', fresh }) as const;

  test('a retried task is where it was before it was given up, with all of its retries', () => {
    const run = journal().start('a').fail('a', FAILURE).giveUp('a', FAILURE).add(retry(false));
    const { status, retried, forgiven } = run.state().tasks.get('a')!;
    expect({ status, retried, forgiven }).toEqual({
      status: { kind: 'stopped', failure: FAILURE, at: START + 4_000, work: null },
      retried: { at: START + 4_000, fresh: false },
      forgiven: 1,
    });
    expect(run.start('a').state().tasks.get('a')!.retried).toBe(null);
  });

  test('finished work that is retried queues again, or goes back if it did not fit', () => {
    const cancelled: Failure = { kind: 'cancelled', message: 'Asked for.' };
    const conflict: Failure = { kind: 'conflict', message: 'No.', files: [], landedSince: [] };
    const done = () => journal().start('a').finish('a');
    const at = START + 4_000;
    expect(statusOf(done().giveUp('a', cancelled).add(retry(false)))).toEqual({
      kind: 'committed',
      commit: sha(2),
      at,
    });
    expect(statusOf(done().giveUp('a', conflict).add(retry(false)))).toEqual({
      kind: 'stopped',
      failure: conflict,
      at,
      work: sha(2),
    });
    expect(statusOf(done().giveUp('a', cancelled).add(retry(true)))).toMatchObject({ work: null });
  });

  test('a task that was taken as done is met, not good', () => {
    const run = journal().add({ type: 'task.skipped', task: 'a', satisfied: true });
    const met = () => isMet(run.state().tasks.get('a')!);
    expect(met()).toBe(false);
    run.giveUp('a', { kind: 'skipped', message: 'Given up.' });
    expect(met()).toBe(true);
    expect(isGood(run.state().tasks.get('a')!)).toBe(false);
  });

  test('a pause ends by going on, by a stop and with its engine', () => {
    const run = journal().add({ type: 'run.paused', suspended: true });
    expect(run.state().paused).toEqual({ suspended: true });
    for (const event of [
      { type: 'run.continued' },
      { type: 'run.stopping', mode: 'drain', why: 'Ctrl-C' },
      { type: 'run.resumed', retry: [] },
    ] as const) {
      const after = journal().add({ type: 'run.paused', suspended: true }).add(event);
      expect(after.state().paused).toBe(null);
    }
  });
});

test('a resumed run forgets that a task was to start over', () => {
  const failure = { kind: 'billing', message: 'No credit.' } as const;
  const run = new JournalBuilder([{ id: 'a' }]).start('a').fail('a', failure);
  run.add({ type: 'task.retried', task: 'a', fresh: true }).giveUp('a', failure).end('failed');
  run.add({ type: 'run.resumed', retry: ['a'] });
  expect(run.state().tasks.get('a')).toMatchObject({ status: { kind: 'waiting' }, retried: null });
});

import { describe, expect, test } from 'vitest';
import { JournalBuilder, planOf } from '../../test/support/journal-builder.ts';
import type { Command } from '../model/command.ts';
import type { Event, StopMode } from '../model/event.ts';
import type { LimitChanges } from '../model/plan.ts';
import { isHalted, pendingInstructions, type RunState } from '../model/state.ts';
import { decide } from '../schedule/decide.ts';
import { respond, stopsFor } from './commands.ts';

const CODING = { resume: true, prose: true };
const why = 'Asked for.';
const journal = () => new JournalBuilder([{ id: 'a' }, { id: 'b' }]);

function eventsFor(command: Command, state: RunState) {
  const response = respond(command, state);
  return response.kind === 'accepted' ? response.events : [];
}

describe('cancelling a task', () => {
  const command = { kind: 'cancel-task', task: 'a' } as const;

  test('is a fact while there is something to cancel', () => {
    const event = { type: 'task.cancelled', task: 'a' };
    expect(eventsFor(command, journal().state())).toEqual([event]);
    expect(eventsFor(command, journal().start('a').finish('a').merge('a').state())).toEqual([
      event,
    ]);
  });

  test('comes too late for a task that is over, cancelled or unknown', () => {
    const states = [
      journal().start('a').finish('a').land('a'),
      journal().giveUp('a', { kind: 'permanent', message: 'No.' }),
      journal().add({ type: 'task.cancelled', task: 'a' }),
    ];
    expect(states.flatMap((run) => eventsFor(command, run.state()))).toEqual([]);
    expect(eventsFor({ kind: 'cancel-task', task: 'z' }, journal().state())).toEqual([]);
  });

  test('ends its attempt and its merge, and nothing else', () => {
    expect(stopsFor({ type: 'task.cancelled', task: 'a' }, ['attempt:a', 'attempt:b'])).toEqual([
      { key: 'attempt:a', reason: 'cancelled' },
      { key: 'merge:a', reason: 'cancelled' },
    ]);
  });
});

describe('stopping the run', () => {
  const MODES: readonly StopMode[] = ['drain', 'end', 'cancel'];

  test('only ever gets harder', () => {
    const allowed = [null, ...MODES].map((before) => {
      const run = journal();
      if (before !== null) run.add({ type: 'run.stopping', mode: before, why });
      const state = run.state();
      return MODES.filter((mode) => eventsFor({ kind: 'stop', mode, why }, state).length > 0);
    });
    expect(allowed).toEqual([['drain', 'end', 'cancel'], ['end', 'cancel'], ['cancel'], []]);
  });

  test('says why, and comes too late for a run that has ended', () => {
    const command = { kind: 'stop', mode: 'end', why } as const;
    const event = { type: 'run.stopping', mode: 'end', why };
    expect(eventsFor(command, journal().state())).toEqual([event]);
    expect(eventsFor(command, journal().end('failed').state())).toEqual([]);
  });

  test('a drain ends nothing; the others end all but the tidying up', () => {
    const running = ['attempt:a', 'merge:b', 'release:c', 'publish'];
    const ended = (mode: StopMode) => stopsFor({ type: 'run.stopping', mode, why }, running);
    const all = (reason: string) =>
      ['attempt:a', 'merge:b', 'publish'].map((key) => ({ key, reason }));
    expect(MODES.map(ended)).toEqual([[], all('interrupted'), all('cancelled')]);
  });

  test('no other fact ends anything', () => {
    expect(stopsFor({ type: 'run.finished', outcome: 'failed' }, ['attempt:a'])).toEqual([]);
  });
});

const NO = { kind: 'permanent', message: 'No.' } as const;
const chain = () =>
  new JournalBuilder([
    { id: 'a' },
    { id: 'b', needs: ['a'] },
    { id: 'c', needs: ['b'] },
    { id: 'd', needs: ['c', 'e'] },
    { id: 'e' },
  ]);

describe('pausing', () => {
  test('is a fact once, and again when it is meant otherwise', () => {
    const run = journal();
    const wish = (suspend: boolean): Command => ({ kind: 'pause', suspend });
    expect(eventsFor(wish(false), run.state())).toEqual([{ type: 'run.paused', suspended: false }]);
    run.add({ type: 'run.paused', suspended: false });
    expect(respond(wish(false), run.state())).toEqual({ kind: 'accepted', events: [] });
    expect(eventsFor(wish(true), run.state())).toEqual([{ type: 'run.paused', suspended: true }]);
  });

  test('ends with going on, which is nothing new for a run that is not paused', () => {
    const wish = { kind: 'continue' } as const;
    expect(respond(wish, journal().state())).toEqual({ kind: 'accepted', events: [] });
    const paused = journal().add({ type: 'run.paused', suspended: true });
    expect(eventsFor(wish, paused.state())).toEqual([{ type: 'run.continued' }]);
  });

  test('comes too late for a run that is stopping or over', () => {
    const wish = { kind: 'pause', suspend: false } as const;
    const stopping = journal().add({ type: 'run.stopping', mode: 'drain', why });
    expect(respond(wish, stopping.state())).toEqual({
      kind: 'refused',
      why: 'The run is stopping.',
    });
    const over = journal().end('failed');
    expect(respond(wish, over.state())).toEqual({ kind: 'refused', why: 'The run is over.' });
  });
});

describe('retrying', () => {
  const wish = (...tasks: string[]): Command => ({ kind: 'retry', tasks, fresh: false });

  test('gives a failed task a new chance, and all that failed because of it', () => {
    const run = chain().giveUp('a', NO).skip('b', 'a').skip('c', 'b').giveUp('e', NO);
    expect(eventsFor(wish('a'), run.state())).toEqual(
      ['a', 'b', 'c'].map((task) => ({ type: 'task.retried', task, fresh: false })),
    );
  });

  test('hurries a task that waits for its next attempt', () => {
    const run = journal().start('a').fail('a', { kind: 'transient', message: 'Busy.' });
    expect(eventsFor(wish('a'), run.state())).toEqual([
      { type: 'task.retried', task: 'a', fresh: false },
    ]);
  });

  test('is refused as a whole, with every reason', () => {
    const run = chain().start('a').finish('a').land('a').start('b').giveUp('e', NO).skip('d', 'e');
    expect(respond(wish('a', 'b', 'c', 'd', 'z'), run.state())).toEqual({
      kind: 'refused',
      why: [
        'Task a has succeeded.',
        'Task b is running.',
        'Task c has not been tried yet.',
        'Task d needs e, which failed: retry that.',
        'There is no task z.',
      ].join(' '),
    });
    expect(respond(wish('e', 'd'), run.state()).kind).toBe('accepted');
  });
});

describe('skipping', () => {
  const wish = (satisfied: boolean, ...tasks: string[]): Command => ({
    kind: 'skip',
    tasks,
    satisfied,
  });

  test('gives a task up once, running or not', () => {
    const run = chain().start('a');
    const event = { type: 'task.skipped', task: 'a', satisfied: false } as const;
    expect(eventsFor(wish(false, 'a', 'a'), run.state())).toEqual([event]);
    run.add(event);
    expect(respond(wish(false, 'a'), run.state())).toEqual({ kind: 'accepted', events: [] });
    expect(stopsFor(event, ['attempt:a'])).toContainEqual({
      key: 'attempt:a',
      reason: 'cancelled',
    });
  });

  test('as if it were done, frees what had failed because of it', () => {
    const run = chain().giveUp('a', NO).skip('b', 'a').skip('c', 'b');
    expect(eventsFor(wish(true, 'a'), run.state())).toEqual([
      { type: 'task.skipped', task: 'a', satisfied: true },
      { type: 'task.retried', task: 'b', fresh: false },
      { type: 'task.retried', task: 'c', fresh: false },
    ]);
  });

  test('comes too late for what has succeeded', () => {
    const run = chain().start('a').finish('a').land('a');
    expect(respond(wish(false, 'a'), run.state())).toEqual({
      kind: 'refused',
      why: 'Task a has succeeded.',
    });
  });
});

describe('pausing tasks', () => {
  const pause = (...tasks: string[]): Command => ({ kind: 'pause-tasks', tasks });
  const resume = (...tasks: string[]): Command => ({ kind: 'continue-tasks', tasks });

  test('is a fact for each task that is not paused yet', () => {
    const paused = journal().add({ type: 'task.paused', task: 'a' });
    expect(eventsFor(pause('a', 'b', 'b'), paused.state())).toEqual([
      { type: 'task.paused', task: 'b' },
    ]);
    expect(eventsFor(resume('a', 'b'), paused.state())).toEqual([
      { type: 'task.continued', task: 'a' },
    ]);
  });

  test('is refused as a whole, with every reason', () => {
    const run = journal().start('a').finish('a').start('b');
    expect(respond(pause('a', 'b', 'z'), run.state())).toEqual({
      kind: 'refused',
      why: 'Task a is finished and waits to land. There is no task z.',
    });
    run.add({ type: 'run.stopping', mode: 'drain', why });
    expect(respond(pause('b'), run.state())).toMatchObject({ why: 'The run is stopping.' });
    expect(respond(resume('z'), run.state())).toMatchObject({ why: 'There is no task z.' });
  });

  test.each(['task.cancelled', 'task.skipped', 'task.retried'] as const)('ends with %s', (type) => {
    const run = journal().start('a').fail('a', { kind: 'permanent', message: 'No.' });
    run.add({ type: 'task.paused', task: 'a' });
    expect(isHalted(run.state(), 'a')).toBe(true);
    run.add({ type, task: 'a', fresh: false, satisfied: false } as Event);
    expect(isHalted(run.state(), 'a')).toBe(false);
  });

  test('outlives an engine, and lets a run that stops end', () => {
    const run = journal().start('a').add({ type: 'task.paused', task: 'a' });
    expect(isHalted(run.add({ type: 'run.stopping', mode: 'end', why }).state(), 'a')).toBe(false);
    expect(isHalted(run.add({ type: 'run.resumed', retry: [] }).state(), 'a')).toBe(true);
  });
});

describe('setting limits', () => {
  const limit = (limits: LimitChanges): Command => ({ kind: 'limit', limits });

  test('records what changes', () => {
    const run = journal();
    expect(eventsFor(limit({ workers: 4, gates: 5, budgetUsd: 2 }), run.state())).toEqual([
      { type: 'run.limited', gates: 5, budgetUsd: 2 },
    ]);
    run.add({ type: 'run.limited', workers: 9 });
    expect(run.state().plan.limits).toEqual({ workers: 9, gates: 2, groups: {} });
  });

  test.each([
    [{}, 'No limit is given.'],
    [{ workers: 0 }, 'The limit workers cannot be 0.'],
    [
      { gates: 1.5, budgetUsd: -1 },
      'The limit gates cannot be 1.5. The limit budgetUsd cannot be -1.',
    ],
  ])('refuses %j', (limits, why) => {
    expect(respond(limit(limits), journal().state())).toEqual({ kind: 'refused', why });
  });
});

describe('reviewing work', () => {
  const comments = [{ path: 'a.ts', line: 1, text: 'Why?' }];
  const command = { kind: 'comment', task: 'a', comments } as const;
  const commented = { type: 'task.commented', task: 'a', comments } as const;

  test('finished work goes back to its session instead of the queue', () => {
    const run = journal().start('a').use('a', 1).finish('a');
    expect(eventsFor(command, run.state())).toEqual([commented]);
    const [first] = decide(run.add(commented).state(), 9e12, () => CODING).decisions;
    expect(first).toMatchObject({
      record: { type: 'attempt.started', start: { kind: 'continue', session: 'session-of-a' } },
      perform: { instructions: [{ note: null, comments, after: 1 }], before: null },
    });
    run.start('a', 'continue').finish('a');
    expect(run.state().tasks.get('a')).toMatchObject({
      status: { kind: 'committed' },
      instructions: [{ answeredBy: 2 }],
    });
  });

  test('a running attempt ends first, and is not the answer', () => {
    const run = journal().start('a').add(commented).finish('a');
    expect(run.state().tasks.get('a')).toMatchObject({
      status: { kind: 'stopped', failure: { kind: 'revision' } },
      instructions: [{ answeredBy: null }],
    });
  });

  test('a failed task gets its chances again, with what failed because of it', () => {
    const run = new JournalBuilder([{ id: 'a' }, { id: 'b', needs: ['a'] }]);
    run.start('a').fail('a', { kind: 'permanent', message: 'No.' });
    run.giveUp('a', { kind: 'permanent', message: 'No.' });
    run.giveUp('b', { kind: 'dependency-failed', message: 'No.', dependency: 'a' });
    expect(eventsFor(command, run.state())).toEqual([
      { type: 'task.retried', task: 'a', fresh: false },
      { type: 'task.retried', task: 'b', fresh: false },
      commented,
    ]);
  });

  test('comes too late or too early', () => {
    const answer = (run: JournalBuilder, agents = CODING) =>
      respond(command, run.state(), () => agents);
    const landed = journal().start('a').finish('a').land('a');
    expect(answer(landed)).toMatchObject({ why: expect.stringContaining('landfast spawn') });
    expect(answer(journal())).toMatchObject({ why: 'No agent has worked on task a yet.' });
    const script = { resume: false, prose: false };
    expect(answer(journal().start('a'), script)).toMatchObject({
      why: 'Task a is a plain command: no agent reads what you write.',
    });
    const moving = journal().start('a').finish('a').merge('a');
    const [candidate] = moving.state().queue;
    expect(answer(moving).kind).toBe('accepted');
    moving.add({ type: 'candidate.built', task: 'a', commit: 'c1', tree: 't1' });
    moving.add({ type: 'merge.landing', task: candidate!.task, commit: 'c1' });
    expect(answer(moving)).toMatchObject({ why: 'The work of task a is landing just now.' });
  });

  test('work in the queue is withdrawn first', () => {
    const run = journal().start('a').finish('a').merge('a');
    run.add({ type: 'candidate.built', task: 'a', commit: 'c1', tree: 't1' }).add(commented);
    const [first] = decide(run.state(), 9e12, () => CODING).decisions;
    expect(first?.record).toMatchObject({ type: 'merge.withdrawn', task: 'a' });
    run.add(first!.record);
    expect(run.state().tasks.get('a')?.status).toMatchObject({ failure: { kind: 'revision' } });
  });
});

test('a note is told in every attempt until one finishes', () => {
  const run = journal().start('a').fail('a', { kind: 'permanent', message: 'No.' });
  run.giveUp('a', { kind: 'permanent', message: 'No.' });
  const events = eventsFor({ kind: 'retry', tasks: ['a'], fresh: false, note: 'Do.' }, run.state());
  expect(events).toEqual([{ type: 'task.retried', task: 'a', fresh: false, note: 'Do.' }]);
  run.add(events[0]!).start('a').fail('a', { kind: 'transient', message: 'No.' });
  expect(pendingInstructions(run.state().tasks.get('a')!)).toMatchObject([{ note: 'Do.' }]);
  run.start('a').finish('a');
  expect(pendingInstructions(run.state().tasks.get('a')!)).toEqual([]);
});

describe('approving a publication', () => {
  const ask = planOf([]).landing;
  const landed = (attended: boolean): JournalBuilder => {
    const run = new JournalBuilder([{ id: 'a' }], { landing: { ...ask, publish: 'ask' } });
    if (attended) run.add({ type: 'run.resumed', retry: [], attended });
    return run.start('a').finish('a').land('a').add({ type: 'workspace.removed', task: 'a' });
  };
  const next = (run: JournalBuilder) =>
    decide(run.state(), 9e12, () => CODING).decisions.map(({ record }) => record);

  test('the run asks once; it waits for a person at the terminal, and ends elsewhere', () => {
    for (const attended of [true, false]) {
      const run = landed(attended);
      const { head } = run.state();
      expect(next(run)).toEqual([{ type: 'publish.awaited', head }]);
      run.add({ type: 'publish.awaited', head: head! });
      expect(next(run)).toEqual(attended ? [] : [{ type: 'run.finished', outcome: 'failed' }]);
    }
  });

  test('what is approved is published, what is declined is not', () => {
    const run = landed(true);
    const head = run.state().head!;
    const approve = { kind: 'approve', publish: true } as const;
    expect(respond(approve, run.state())).toMatchObject({ why: 'Nothing waits for approval.' });
    run.add({ type: 'publish.awaited', head });
    expect(eventsFor({ ...approve, publish: false }, run.state())).toEqual([
      { type: 'publish.declined', head },
    ]);
    expect(eventsFor(approve, run.state())).toEqual([{ type: 'publish.approved', head }]);
    expect(next(run.add({ type: 'publish.approved', head }))).toEqual([
      { type: 'publish.started', head },
    ]);
    expect(next(run.add({ type: 'publish.declined', head }))).toEqual([
      { type: 'run.finished', outcome: 'succeeded' },
    ]);
  });
});

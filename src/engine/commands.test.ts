import { describe, expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import type { Command } from '../model/command.ts';
import type { StopMode } from '../model/event.ts';
import type { RunState } from '../model/state.ts';
import { respond, stopsFor } from './commands.ts';

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

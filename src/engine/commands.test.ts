import { describe, expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import type { StopMode } from '../model/event.ts';
import { eventsFor, stopsFor } from './commands.ts';

const why = 'Asked for.';
const journal = () => new JournalBuilder([{ id: 'a' }, { id: 'b' }]);

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

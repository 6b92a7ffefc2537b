import { describe, expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import type { RunState } from '../model/state.ts';
import { inLandingOrder, suspectsIn } from './landing-order.ts';

const names = [{ name: 'f', file: 'f.ts', change: 'removed', usedBy: ['g.ts'] }] as const;
const run = (...ids: string[]) => new JournalBuilder(ids.map((id) => ({ id })));
const order = (state: RunState, ...ids: string[]) =>
  inLandingOrder(
    state,
    ids.map((id) => state.tasks.get(id)!),
  ).map(({ spec }) => spec.id);

describe('the order of landing', () => {
  test('stays as it is where nothing is foreseen', () => {
    expect(order(run('a', 'b', 'c').state(), 'c', 'a', 'b')).toEqual(['c', 'a', 'b']);
  });

  test('puts work without conflicts before two that conflict', () => {
    const state = run('a', 'b', 'c', 'd')
      .add({ type: 'radar.conflict', a: 'a', b: 'c', files: ['x'] })
      .state();
    expect(order(state, 'a', 'b', 'c', 'd')).toEqual(['b', 'd', 'a', 'c']);
  });

  test('does not hold back work that conflicts only with what has landed or never will', () => {
    const state = run('a', 'b', 'c')
      .add({ type: 'radar.conflict', a: 'a', b: null, files: ['x'] })
      .giveUp('c', { kind: 'permanent', message: 'No.' })
      .add({ type: 'radar.conflict', a: 'a', b: 'c', files: ['x'] })
      .state();
    expect(order(state, 'a', 'b')).toEqual(['a', 'b']);
  });

  test('puts who changes names and who uses them next to each other', () => {
    const state = run('a', 'b', 'c', 'd')
      .add({ type: 'radar.semantic', a: 'd', b: 'a', names })
      .state();
    expect(order(state, 'a', 'b', 'c', 'd')).toEqual(['a', 'd', 'b', 'c']);
  });

  test('puts the partner of one in the queue first, and suspects it then', () => {
    const journal = run('a', 'b', 'c').start('a').finish('a').start('c').finish('c').merge('a');
    journal.add({ type: 'radar.semantic', a: 'a', b: 'c', names });
    expect(order(journal.state(), 'b', 'c')).toEqual(['c', 'b']);
    expect(suspectsIn(journal.state())).toEqual(new Set());
    expect(suspectsIn(journal.merge('c').state())).toEqual(new Set(['c']));
  });

  test('suspects who clashes with what has landed', () => {
    const journal = run('a', 'b').start('a').start('b').finish('a').land('a').finish('b');
    journal.add({ type: 'radar.semantic', a: 'a', b: 'b', names }).merge('b');
    expect(suspectsIn(journal.state())).toEqual(new Set(['b']));
  });
});

import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import { foreseenFor } from './radar.ts';

const names = [{ name: 'f', file: 'f.ts', change: 'removed', usedBy: ['g.ts'] }] as const;
const run = () => new JournalBuilder([{ id: 'a' }, { id: 'b' }, { id: 'c' }]).start('a').start('b');

test('what is said of two tasks replaces what was said before', () => {
  const journal = run()
    .add({ type: 'radar.conflict', a: 'a', b: 'b', files: ['x'] })
    .add({ type: 'radar.conflict', a: 'a', b: null, files: ['z'] })
    .add({ type: 'radar.conflict', a: 'a', b: 'b', files: ['x', 'y'] });
  expect(journal.state().radar.collisions).toEqual([
    { a: 'a', b: null, files: ['z'] },
    { a: 'a', b: 'b', files: ['x', 'y'] },
  ]);
  journal.add({ type: 'radar.cleared', a: 'a', b: 'b' });
  expect(journal.state().radar.collisions).toEqual([{ a: 'a', b: null, files: ['z'] }]);
});

test('names that are used no more are forgotten', () => {
  const journal = run().add({ type: 'radar.semantic', a: 'a', b: 'b', names });
  expect(journal.state().radar.clashes).toEqual([{ a: 'a', b: 'b', names }]);
  journal.add({ type: 'radar.semantic', a: 'a', b: 'b', names: [] });
  expect(journal.state().radar.clashes).toEqual([]);
});

test('a task that is over conflicts with nobody any more', () => {
  const journal = run()
    .add({ type: 'radar.conflict', a: 'a', b: 'b', files: ['x'] })
    .add({ type: 'radar.conflict', a: 'b', b: 'c', files: ['y'] });
  journal.finish('a').land('a');
  expect(journal.state().radar.collisions).toEqual([{ a: 'b', b: 'c', files: ['y'] }]);
});

test('a resumed run is looked at anew', () => {
  const journal = run().add({ type: 'radar.conflict', a: 'a', b: 'b', files: ['x'] });
  journal.add({ type: 'run.resumed', retry: [] });
  expect(journal.state().radar).toEqual({ collisions: [], clashes: [] });
});

test('files outside the scope belong to the attempt that changed them', () => {
  const journal = run()
    .add({ type: 'scope.strayed', task: 'a', attempt: 1, files: ['x'] })
    .add({ type: 'scope.strayed', task: 'a', attempt: 7, files: ['late'] });
  expect(journal.state().tasks.get('a')?.attempts.at(-1)?.astray).toEqual(['x']);
});

test('each of two is told of the other, and only the user of names is told of names', () => {
  const { radar } = run()
    .add({ type: 'radar.conflict', a: 'a', b: 'b', files: ['x'] })
    .add({ type: 'radar.semantic', a: 'a', b: 'b', names })
    .state();
  const told = (task: string, ...strayed: string[]) =>
    foreseenFor(radar, { task, strayed }, () => false);
  expect(told('a')).toEqual({
    collisions: [{ with: 'b', files: ['x'] }],
    clashes: [],
    strayed: [],
  });
  expect(told('b', 's')).toEqual({
    collisions: [{ with: 'a', files: ['x'] }],
    clashes: [{ with: 'a', names }],
    strayed: ['s'],
  });
  expect(told('c')).toBeNull();
});

test('names of what has landed stay for those whose work goes on, and both sides are told', () => {
  const journal = run()
    .add({ type: 'radar.semantic', a: 'a', b: 'b', names })
    .add({ type: 'radar.semantic', a: 'b', b: 'a', names })
    .finish('a')
    .land('a')
    .add({ type: 'workspace.released', task: 'a' });
  const { radar } = journal.state();
  expect(radar.clashes).toHaveLength(2);
  const foe = { with: 'a', names, landed: true };
  expect(foreseenFor(radar, { task: 'b', strayed: [] }, (id) => id === 'a')).toEqual({
    ...{ collisions: [], clashes: [foe], missed: [foe], strayed: [] },
  });
  journal.finish('b').land('b');
  expect(journal.state().radar.clashes).toEqual([]);
});

test('names of work that never lands are forgotten', () => {
  const journal = run().add({ type: 'radar.semantic', a: 'a', b: 'b', names });
  journal.giveUp('a', { kind: 'permanent', message: 'No.' });
  expect(journal.state().radar.clashes).toEqual([]);
});

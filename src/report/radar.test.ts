import { expect, test } from 'vitest';
import { JournalBuilder } from '../../test/support/journal-builder.ts';
import { PLAIN_INK } from './format.ts';
import { radarLine, radarLines } from './radar.ts';

const names = [{ name: 'f', file: 'f.ts', change: 'removed', usedBy: ['g.ts'] }] as const;
const run = () => new JournalBuilder(['a', 'b', 'c', 'd'].map((id) => ({ id }))).start('a');

test('nothing foreseen is nothing shown', () => {
  expect(radarLines(run().state(), PLAIN_INK)).toEqual([]);
  expect(radarLine(run().state())).toBeNull();
});

test('who collides with whom is a table and a line each', () => {
  const state = run()
    .add({ type: 'radar.conflict', a: 'a', b: 'c', files: ['x.ts', 'y.ts'] })
    .add({ type: 'radar.conflict', a: 'c', b: null, files: ['z.ts'] })
    .add({ type: 'radar.semantic', a: 'd', b: 'a', names })
    .add({ type: 'scope.strayed', task: 'a', attempt: 1, files: ['docs/q.md'] })
    .state();
  expect(radarLines(state, PLAIN_INK).join('\n')).toMatchInlineSnapshot(`
    "Radar
         a  c  d  head
      a     x  n  ·
      c  x     ·  x
      d  n  ·     ·
      a will conflict with c: x.ts, y.ts
      c will conflict with what is about to land: z.ts
      d changes what a uses: f (removed)
      a changes files outside its scope: docs/q.md"
  `);
  expect(radarLine(state)).toBe(
    'radar: will conflict: a × c, c × head; 1 pair with changed names; astray: a',
  );
});

test('of names it is said who has landed with them', () => {
  const journal = run().start('b').start('c').finish('a').land('a');
  const lines = (a: string, b: string) =>
    radarLines(journal.add({ type: 'radar.semantic', a, b, names }).state(), PLAIN_INK).at(-1);
  expect(lines('a', 'b')).toBe('  a has landed, and changes what b uses: f (removed)');
  expect(lines('c', 'a')).toBe('  c changes what a, which has landed, uses: f (removed)');
});

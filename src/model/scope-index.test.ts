import { expect, test } from 'vitest';
import { overlaps } from './scope.ts';
import { ScopeIndex } from './scope-index.ts';

const GLOBS = [
  ...['**', '*', 'src', 'src/**', 'src/*', 'src/a.ts', 'src/*.ts', 'src/a/**', 'src/?/b.ts'],
  ...['**/*.ts', 'src/{a,b}/c', 'docs/a.md', 'docs', 'app/[id]/page.ts', 'app/(tab)/x', './src/a'],
];

test('it answers as a comparison with each would', () => {
  const index = new ScopeIndex<string>();
  for (const glob of GLOBS) index.add([glob], glob);
  for (const glob of GLOBS) {
    const met = [...index.meeting([glob, 'nowhere/**'])].sort();
    const expected = GLOBS.filter((other) => overlaps([glob, 'nowhere/**'], [other])).sort();
    expect({ glob, met }).toEqual({ glob, met: expected });
  }
});

test('a scope is compared only with those it shares a folder with', () => {
  const index = new ScopeIndex<number>();
  let looked = 0;
  for (let nth = 0; nth < 1_000; nth += 1) {
    const globs = [`src/part-${nth}/**`, `docs/part-${nth}.md`];
    index.meeting(globs, () => {
      looked += 1;
      return true;
    });
    index.add(globs, nth);
  }
  expect(looked).toBe(0);
  expect([...index.meeting(['src/part-7/x.ts', 'docs/*'], (nth) => nth < 9)].sort()).toEqual([
    ...[0, 1, 2, 3, 4, 5, 6, 7, 8],
  ]);
});

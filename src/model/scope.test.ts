/** Scopes: exact coverage, and overlaps that never miss a common path. */

import { describe, expect, test } from 'vitest';
import { inScope, isLiteral, normaliseGlob, overlaps } from './scope.ts';

describe('inScope', () => {
  test.each([
    ['src/a.ts', ['src/a.ts'], true],
    ['src/a.ts', ['src'], true],
    ['src/deep/a.ts', ['./src/'], true],
    ['src2/a.ts', ['src'], false],
    ['src/a.ts', ['src/*'], true],
    ['src/deep/a.ts', ['src/*'], false],
    ['src/deep/a.ts', ['src/**'], true],
    ['src/deep/a.ts', ['src/*/'], true],
    ['src/.env', ['src/**'], true],
    ['.github/workflows/ci.yml', ['**/*.yml'], true],
    ['src/a.ts', ['lib/**', 'src/**'], true],
    ['src/b.ts', ['src/{a,b}.ts'], true],
    ['src/c.ts', ['src/[ab].ts'], false],
    ['app/[id]/page.tsx', ['app/[id]/page.tsx'], true],
    ['app/[id]/page.tsx', ['app/[id]/**'], true],
    ['app/(tab)/[id]/page.tsx', ['app/(tab)/[id]'], true],
    ['app/i/page.tsx', ['app/[id]/**'], true],
    ['!important.md', ['!important.md'], true],
    ['other.md', ['!important.md'], false],
    ['anything/at/all', ['.'], true],
    ['src/a.ts', [], false],
  ] as const)('%s in %j is %s', (file, globs, expected) => {
    expect(inScope(file, globs)).toBe(expected);
  });

  test('a pattern longer than any path covers nothing and does not throw', () => {
    expect(inScope('a', [`${'*a'.repeat(50_000)}`])).toBe(false);
  });
});

describe('normaliseGlob', () => {
  test.each([
    ['./src//users/', 'src/users'],
    ['src/../src/x.py', 'src/x.py'],
    ['src/*/', 'src/*/**'],
    ['../out', '../out'],
    ['a/../../b', '../b'],
    ['/abs/./x', '/abs/x'],
    ['.', '**'],
    ['', '**'],
    ['/', '/'],
  ])('%j is %j', (glob, expected) => {
    expect(normaliseGlob(glob)).toBe(expected);
  });
});

test('isLiteral tells a path from a pattern', () => {
  expect(['src/a-b_c.ts', 'a+b@c!.md', 'src/*', 'a?', '{a}', '[a]', '(a)'].map(isLiteral)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

describe('overlaps', () => {
  test.each([
    [['src/a.ts'], ['src/a.ts'], true],
    [['src/a.ts'], ['src/b.ts'], false],
    [['src'], ['src/x.py'], true],
    [['src'], ['src2'], false],
    [['src/**'], ['src/users/model.ts'], true],
    [['src/users/**'], ['src/auth/**'], false],
    [['**/*.ts'], ['src/**'], true],
    [['**/*.ts'], ['**/*.md'], false],
    [['src/*/index.ts'], ['src/users/*'], true],
    [['src/*'], ['src/a/b'], false],
    [['a*c'], ['ab?'], true],
    [['a*c'], ['ab?d'], false],
    [['{src,lib}/**'], ['lib/x'], true],
    [['{src,lib}/**'], ['docs/x'], false],
    [['src/{a,b/{c,d}}.ts'], ['src/b/d.ts'], true],
    [['app/[id]/a.ts'], ['app/[slug]/a.ts'], true],
    [['app/[id]/a.ts'], ['app/[id]/b.ts'], false],
    [['x{1..3}'], ['x2'], true],
    [['+(a|b)/x'], ['zzz'], true],
    [['a|b'], ['b'], true],
    [['**'], ['x'], true],
    [['**/a'], ['b/**'], true],
    [[], ['**'], false],
  ])('%j and %j: %s', (a, b, expected) => {
    expect(overlaps(a, b)).toBe(expected);
    expect(overlaps(b, a)).toBe(expected);
  });

  test('many braces are answered at once, and conservatively', () => {
    expect(overlaps(['{a,b}'.repeat(40)], ['zzz'])).toBe(true);
  });

  test('two scopes that share a path always overlap', () => {
    const random = generator(7);
    const paths = allPaths();
    let shared = 0;
    for (let i = 0; i < 3_000; i += 1) {
      const [a, b] = [randomGlob(random, WILD), randomGlob(random, WILD)];
      const common = paths.find((path) => inScope(path, [a]) && inScope(path, [b]));
      if (common === undefined) continue;
      shared += 1;
      expect({ a, b, common, overlaps: overlaps([a], [b]) }).toMatchObject({ overlaps: true });
    }
    expect(shared).toBeGreaterThan(300);
  });

  test('scopes of plain wildcards overlap only if they share a path', () => {
    const random = generator(11);
    const paths = allPaths();
    const pairs = Array.from({ length: 3_000 }, () => {
      return [randomGlob(random, PLAIN), randomGlob(random, PLAIN)] as const;
    }).filter(([a, b]) => !OWN_FOLDER.test(a) && !OWN_FOLDER.test(b));
    const overlapping = pairs.filter(([a, b]) => overlaps([a], [b]));
    const isShared = ([a, b]: readonly [string, string]) =>
      paths.some((path) => inScope(path, [a]) && inScope(path, [b]));
    expect(overlapping.filter((pair) => !isShared(pair))).toEqual([]);
    expect(overlapping.length).toBeGreaterThan(300);
    expect(pairs.length - overlapping.length).toBeGreaterThan(300);
  });
});

const PLAIN = ['a', 'b', 'ab', '*', '?', 'a*', '*b', '**'];
/** Whether `x*` itself belongs to `x*` + `/**` is left open, so it counts as a meeting. */
const OWN_FOLDER = /[*?][^/]*\/\*\*$/;
const WILD = [...PLAIN, '[ab]', '[!a]', '{a,b}', '{a,b/a}', '@(a|b)', '!(a)', 'a**', '+(b)', '{a}'];

function randomGlob(random: () => number, segments: readonly string[]): string {
  const count = 1 + Math.floor(random() * 3);
  return Array.from({ length: count }, () => segments[Math.floor(random() * segments.length)]).join(
    '/',
  );
}

/** Every path of at most five segments over a small alphabet: enough to show a common one. */
function allPaths(): readonly string[] {
  const names = ['a', 'b', 'ab'];
  let level = names;
  const paths = [...level];
  for (let depth = 2; depth <= 5; depth += 1) {
    level = level.flatMap((path) => names.map((name) => `${path}/${name}`));
    paths.push(...level);
  }
  return paths;
}

/** A small seeded generator, so that a failure can be repeated. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

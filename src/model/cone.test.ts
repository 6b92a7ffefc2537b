import { expect, test } from 'vitest';
import { inCone, outermost, parentsOf, placesOf } from './cone.ts';
import { inScope } from './scope.ts';

test.each([
  [['src/users/**', 'migrations/*.sql'], ['src/users', 'migrations'], []],
  [['src/{users,auth}/**'], ['src/users', 'src/auth'], []],
  [['src/a/index.ts', './docs/'], [], ['src/a/index.ts', 'docs']],
  [['*.md', 'package.json', 'Dockerfile*'], [], ['package.json']],
  [['app/[id]/page.tsx', 'web/(tab)/x'], ['app', 'web'], []],
  [['src/*/tests/**', 'src/**/x.ts'], ['src'], []],
])('%j are in %j and at %j', (globs, folders, paths) => {
  expect(placesOf(globs)).toEqual({ folders, paths });
});

test.each([
  ['**'],
  ['**/*.ts'],
  ['*/index.ts'],
  ['.'],
  ['*'.repeat(2)],
  ['{a,b}*/c'],
  ['/etc/passwd'],
  ['../x/**'],
  ['+(a/b)'],
])('%s may be anywhere', (glob) => {
  expect(placesOf(['src/**', glob])).toBeNull();
});

test('only the outermost folders count', () => {
  expect(outermost(['b/c', 'a', 'a/b', 'b/c/d', 'a', 'ab'])).toEqual(['a', 'ab', 'b/c']);
  expect(parentsOf('a/b/c.ts')).toEqual(['a/b', 'a']);
  expect(parentsOf('c.ts')).toEqual([]);
});

test('what a glob covers is checked out', () => {
  const globs = ['src/{a,b}/**', 'docs/*.md', 'lib/x/*/y.ts', '*.json'];
  const folders = new Set(outermost(placesOf(globs)?.folders ?? []));
  const files = ['src/a/x', 'src/b/c/d', 'docs/one.md', 'lib/x/1/y.ts', 'a.json'];
  for (const file of files)
    expect([file, inScope(file, globs), inCone(file, folders)]).toEqual([file, true, true]);
  expect(inCone('lib/README', folders)).toBe(true);
  for (const file of ['src/c/x', 'lib/z/y.ts', 'other/a.json'])
    expect(inCone(file, folders)).toBe(false);
});

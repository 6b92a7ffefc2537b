/** What the documents say is shown by a test, is shown by one that exists and is called so. */

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const LINK = /\]\((?<path>[^)\s#:]+)(?:#[^)\s]*)?\)(?<names>(?:[\s,;]*(?:and )?"[^"]+")*)/g;

const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT });

test.each(documents)('every link of %s leads to a file, and every name to a test in it', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  expect([...text.matchAll(LINK)].flatMap(({ groups }) => wrongIn(page, groups!))).toEqual([]);
});

test('the claims of the README are found', () => {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const named = [...text.matchAll(LINK)].filter(({ groups }) => namesIn(groups!).length > 0);
  expect(named.length).toBeGreaterThan(40);
});

function wrongIn(page: string, groups: Readonly<Record<string, string>>): readonly string[] {
  const path = normalize(join(dirname(page), groups.path!));
  if (!existsSync(join(ROOT, path))) return [`${path} does not exist`];
  const names = path.endsWith('.test.ts') ? namesIn(groups) : [];
  if (names.length === 0) return [];
  const source = readFileSync(join(ROOT, path), 'utf8');
  return names.filter((name) => !source.includes(name)).map((name) => `${path}: ${name}`);
}

/** A line may end within a name. */
function namesIn({ names = '' }: Readonly<Record<string, string>>): readonly string[] {
  return [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name.replace(/\s+/g, ' '));
}

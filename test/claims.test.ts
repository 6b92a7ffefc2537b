/** What the documents say is shown by a test, is shown by one that exists and is called so. */

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const LINK =
  /\]\((?<path>[^)\s#:]*)(?:#(?<anchor>[^)\s]*))?\)(?<names>(?:[\s,;]*(?:and )?"[^"]+")*)/g;

const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT });

test.each(documents)('every link of %s leads to a file, and every name to a test in it', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8');
  expect([...text.matchAll(LINK)].flatMap(({ groups }) => wrongIn(page, groups!))).toEqual([]);
});

test('the claims are found', () => {
  const text = readFileSync(join(ROOT, 'docs', 'claims.md'), 'utf8');
  const named = [...text.matchAll(LINK)].filter(({ groups }) => namesIn(groups!).length > 0);
  expect(named.length).toBeGreaterThan(40);
});

function wrongIn(page: string, groups: Readonly<Record<string, string>>): readonly string[] {
  const path = groups.path === '' ? page : normalize(join(dirname(page), groups.path!));
  if (!existsSync(join(ROOT, path))) return [`${path} does not exist`];
  const { anchor } = groups;
  if (anchor !== undefined && path.endsWith('.md') && !anchorsIn(path).includes(anchor)) {
    return [`${path} has no heading #${anchor}`];
  }
  const names = path.endsWith('.test.ts') ? namesIn(groups) : [];
  if (names.length === 0) return [];
  const source = readFileSync(join(ROOT, path), 'utf8');
  return names.filter((name) => !source.includes(name)).map((name) => `${path}: ${name}`);
}

/** The headings of a page as links name them. */
function anchorsIn(path: string): readonly string[] {
  const text = readFileSync(join(ROOT, path), 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('docs/README.md leads to every page', () => {
  const text = readFileSync(join(ROOT, 'docs', 'README.md'), 'utf8');
  const linked = new Set([...text.matchAll(LINK)].map(({ groups }) => groups!.path));
  const pages = globSync('**/*.md', { cwd: join(ROOT, 'docs') });
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((page) => page !== 'README.md' && !linked.has(page))).toEqual([]);
});

/** A line may end within a name. */
function namesIn({ names = '' }: Readonly<Record<string, string>>): readonly string[] {
  return [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name.replace(/\s+/g, ' '));
}

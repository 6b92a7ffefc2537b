/** The package: every page that a message names is in it, and the notes on its design are not. */

import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Every line of the program's texts that names a page or a schema; the demo's shop has its own. */
function linesThatName(): readonly string[] {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).filter(
    (path) => !path.endsWith('.test.ts') && !path.startsWith('src/app/demo/'),
  );
  return sources.flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/ .*$/gm, '');
    return text.split('\n').filter((line) => NAME.test(line) && !line.startsWith('import '));
  });
}

const NAME = /\b(?:docs|schemas|examples)\/[\w./-]*\w/;

function packed(): readonly string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const out = execFileSync('npm', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files }] = JSON.parse(out) as [{ files: readonly { readonly path: string }[] }];
  return files.map(({ path }) => path);
}

test('what messages name is shipped, and they say where it is: users are in another folder', () => {
  const lines = linesThatName();
  const pages = [...new Set(lines.map((line) => NAME.exec(line)?.[0] ?? ''))];
  expect(pages).toContain('docs/formats.md');
  const shipped = new Set(packed());
  expect(pages.filter((page) => !shipped.has(page))).toEqual([]);
  expect(lines.filter((line) => !line.includes("in landfast's package"))).toEqual([]);
});

test('every page for users is shipped, and no note on the design', () => {
  const shipped = packed().filter((path) => path.startsWith('docs/'));
  expect(shipped.toSorted()).toEqual(globSync('docs/*.md', { cwd: ROOT }).toSorted());
});

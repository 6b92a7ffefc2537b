/**
 * Writes docs/compatibility.md: what became of each compatibility case of the tools that Landfast
 * replaces. test/compat/cases.ts is its source, and the names of tests say where a case
 * is shown.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CASES, type CompatCase } from '../test/compat/cases.ts';

const root = join(import.meta.dirname, '..');
export const PAGE = 'docs/compatibility.md';

/** The page as it should be. */
export function compatibilityPage(): string {
  const shown = shownBy();
  const sections = [...CASES].map(([tool, cases]) => section(tool, cases, shown));
  return `${[INTRODUCTION, counts(), ...sections].join('\n\n')}\n`;
}

/** By id: the files that have a test whose name begins with it, test/compat first. */
export function shownBy(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const file of ['test/compat', 'test', 'src'].flatMap(testsIn)) {
    for (const id of namedIn(readFileSync(join(root, file), 'utf8'))) {
      const files = found.get(id) ?? [];
      if (!files.includes(file)) found.set(id, [...files, file]);
    }
  }
  return found;
}

function testsIn(folder: string): readonly string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  const tests = files.filter((file) => file.endsWith('.test.ts')).sort();
  return tests.map((file) => `${folder}/${file.replaceAll('\\', '/')}`);
}

/** A name begins with one id, or with several: `'PO-19, PO-20: …'`; tables hold ids alone. */
function namedIn(text: string): readonly string[] {
  const id = '(?:PO-|CP-|[CRP])\\d+';
  const beginnings = text.matchAll(new RegExp(`['"\`](${id}(?:, ${id})*)(?=[:'"\`])`, 'g'));
  return [...beginnings].flatMap(([, ids = '']) => ids.split(', '));
}

const INTRODUCTION = `# Compatibility

Landfast replaces five tools and reads their files ([formats.md](formats.md)). This page lists every case that their users
know. **Kept**: the same outcome. **Fixed**: a better one. **Declined**: neither, for the reason given. Every case that is
not declined has a test whose name begins with its id. \`node scripts/compatibility.ts\` writes this page, and
[a test](../test/compatibility.test.ts) compares it.`;

function counts(): string {
  const all = [...CASES.values()].flat();
  const count = (verdict: CompatCase['verdict']): number =>
    all.filter((one) => one.verdict === verdict).length;
  const [kept, fixed, declined] = [count('kept'), count('fixed'), count('declined')];
  return `${all.length} cases: ${kept} kept, ${fixed} fixed, ${declined} declined.`;
}

function section(
  tool: string,
  cases: readonly CompatCase[],
  shown: ReadonlyMap<string, readonly string[]>,
): string {
  const rows = cases.map(({ id, what, verdict, note = '' }) => {
    const [file] = verdict === 'declined' ? [] : (shown.get(id) ?? []);
    const test = file === undefined ? '' : `[test](../${file})`;
    return `| ${[id, cell(what), verdict, cell(note), test].join(' | ')} |`;
  });
  return [`## ${tool}`, '', '| id | case | | note | |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

if (process.argv[1] === import.meta.filename) writeFileSync(join(root, PAGE), compatibilityPage());

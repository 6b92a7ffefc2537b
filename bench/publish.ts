/**
 * Writes what was measured to where people read it: the data and a chart in docs, and the tables in
 * docs/benchmarks.md.
 *
 *   npm run bench -- --publish       measures everything, then writes
 *   node bench/publish.ts [FILE]     writes what was measured before; without a file what is
 *                                    published already, after a change of titles, targets or layout
 *
 *   P1. Only all cases together are published, from one invocation, and not from a file system that
 *       blurs the differences.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chartSvg } from './chart.ts';
import { UNJOURNALED } from './ground.ts';
import { between, costTable, judged, ratioTable, storyOf, WAYS_TEXT } from './page.ts';
import type { Results } from './results.ts';

const ROOT = join(import.meta.dirname, '..');

/** Where the data is. */
export const DATA = join(ROOT, 'docs', 'benchmarks.json');

/** The files that are made from the data, with their text; pages keep what is not between markers. */
export async function pagesOf(results: Results): Promise<ReadonlyMap<string, string>> {
  const { surroundings } = results;
  if (surroundings.fileSystem === UNJOURNALED) {
    throw new Error(`this was measured on ${UNJOURNALED}; measure with another --dir`);
  }
  const cases = judged(results);
  const story = storyOf({ surroundings, cases });
  const ratios = `${story}\n\n${WAYS_TEXT}\n\n${ratioTable(cases)}`;
  const fill = async (file: string, text: string): Promise<[string, string]> => {
    const path = join(ROOT, file);
    return [path, between(await readFile(path, 'utf8'), text)];
  };
  return new Map([
    [DATA, `${JSON.stringify({ surroundings, cases }, null, 2)}\n`],
    [join(ROOT, 'docs', 'benchmarks.svg'), chartSvg(cases)],
    await fill(join('docs', 'benchmarks.md'), `${ratios}\n\n${costTable(cases)}`),
  ]);
}

/** Writes them. */
export async function writePages(results: Results): Promise<void> {
  for (const [path, text] of await pagesOf(results)) await writeFile(path, text);
}

if (import.meta.main) {
  const [file = DATA] = process.argv.slice(2);
  await writePages(JSON.parse(await readFile(file, 'utf8')) as Results);
}

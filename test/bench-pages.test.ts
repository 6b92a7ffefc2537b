/** The numbers that are published are those that were measured. */

import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { expect, test } from 'vitest';
import { CASES } from '../bench/cases.ts';
import { chartSvg } from '../bench/chart.ts';
import { between, costTable, judged, ratioTable, storyOf } from '../bench/page.ts';
import { DATA, pagesOf } from '../bench/publish.ts';
import type { Cost, Results } from '../bench/results.ts';

const REMEDY = 'npm run bench -- --publish, or after a change of layout node bench/publish.ts';

test('page and chart show what docs/benchmarks.json holds', async () => {
  const results = JSON.parse(await readFile(DATA, 'utf8')) as Results;
  const stale: string[] = [];
  for (const [path, text] of await pagesOf(results)) {
    if ((await readFile(path, 'utf8')) !== text) stale.push(relative('.', path));
  }
  expect(stale, REMEDY).toEqual([]);
});

test('every case is published, with a figure for every target', async () => {
  const results = JSON.parse(await readFile(DATA, 'utf8')) as Results;
  expect(results.cases.map(({ name }) => name)).toEqual(CASES.map(({ name }) => name));
  const checks = results.cases.flatMap((each) => each.checks);
  expect(checks.filter(({ value }) => !(value > 0))).toEqual([]);
});

test('a missed target is called missed, and a rival has a column of its own', () => {
  const [each] = CASES.filter(({ name }) => name === 'small-50');
  if (each === undefined) throw new Error('no small-50');
  const cost = (wallMs: number, mainKb: number): Cost => ({
    runs: [{ wallMs, cpuMs: wallMs }],
    memory: { mainKb, treeKb: mainKb },
    gitProcesses: 7,
  });
  const costs = {
    script: cost(1_000, 4_096),
    'landfast, plan': cost(800, 102_400),
    'landfast, manifest': cost(920, 112_640),
    'landfast, shell': cost(650, 92_160),
  };
  const page = (more: Readonly<Record<string, Cost>>): string => {
    const all = { ...costs, ...more };
    const { surroundings } = EMPTY;
    const measured = { name: each.name, title: each.title, costs: all, checks: [] };
    const cases = judged({ surroundings, cases: [measured] }, [each]);
    return `\n${ratioTable(cases)}\n\n${costTable(cases)}\n`;
  };
  expect(page({})).toMatchInlineSnapshot(`
    "
    |  | compared | wall | CPU |
    |---|---|---:|---:|
    | 50 files, 50 tasks, 8 at a time | landfast, plan / script | 0.80 (at most 0.75, **missed**) | 0.80 (at most 0.90) |
    |  | landfast, manifest / script | 0.92 (at most 0.75, **missed**) | 0.92 (at most 0.90, **missed**) |
    |  | landfast, shell / script | 0.65 (at most 0.75) | 0.65 (at most 0.90) |
    | peak memory of the engine | the most of any case | 110 MB (at most 160 MB) |  |

    |  | entrant | wall | CPU | engine | all processes | git processes |
    |---|---|---:|---:|---:|---:|---:|
    | 50 files, 50 tasks, 8 at a time | script | 1.00 s | 1.00 s | 4 MB | 4 MB | 7 |
    |  | landfast, plan | 0.80 s | 0.80 s | 100 MB | 100 MB | 7 |
    |  | landfast, manifest | 0.92 s | 0.92 s | 110 MB | 110 MB | 7 |
    |  | landfast, shell | 0.65 s | 0.65 s | 90 MB | 90 MB | 7 |
    "
  `);
  expect(page({ 'parallel-orchestra': cost(1_200, 30_720) })).toContain('| 1.20 / 1.20 |');
});

test('a busy machine is reported', () => {
  const { surroundings } = EMPTY;
  expect(storyOf(EMPTY)).not.toContain('busy');
  expect(storyOf({ surroundings: { ...surroundings, load: 2.5 }, cases: [] })).toContain(
    '(load 2.5)',
  );
});

test('a case that was not measured, or a page without its place, is not published', () => {
  expect(() => judged(EMPTY)).toThrow('small-50 was not measured');
  expect(() => between('no place', 'text')).toThrow('in the page');
});

test('a bar beyond the edge is cut, and says its number', () => {
  const check = {
    what: 'wall',
    of: 'landfast, manifest, warm',
    over: 'script',
    most: 0.6,
  } as const;
  const checks = [{ ...check, value: 12.34, kept: false }];
  const svg = chartSvg([{ name: 'x', title: 'a <b> & c', costs: {}, checks }]);
  expect(svg).toContain('a &lt;b> &amp; c: manifest, warm<');
  expect(svg).toContain('>12.34</text>');
  const rights = [...svg.matchAll(/<rect x="([\d.]+)" y="\d+" width="([\d.]+)"/g)];
  expect(Math.max(...rights.map(([, x, width]) => Number(x) + Number(width)))).toBeLessThan(760);
});

const EMPTY: Results = {
  surroundings: {
    date: '2026-01-01',
    fileSystem: 'tmpfs',
    cores: 2,
    processor: 'some',
    load: 0.1,
    node: '24.0.0',
    git: '2.39.0',
  },
  cases: [],
};

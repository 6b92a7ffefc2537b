/**
 * What was measured, as Markdown for docs/benchmarks.md. Pure: the files are written by publish.ts, and a test compares them with the data they were made from.
 *
 *   P1. Every number comes from the results; what is missed is called missed.
 */

import { CASES, type Case, type Target } from './cases.ts';
import {
  type CaseResult,
  type Check,
  checksOf,
  figureOf,
  median,
  type Results,
} from './results.ts';
import { megabytes, ratio, seconds } from './table.ts';

/** Who else may be in the results. */
const RIVAL = 'parallel-orchestra';

/** What was measured of the cases, with their targets as they are now. */
export function judged(results: Results, cases: readonly Case[] = CASES): readonly CaseResult[] {
  return cases.map((each) => {
    const found = results.cases.find(({ name }) => name === each.name);
    if (found === undefined) throw new Error(`${each.name} was not measured`);
    const { name, title } = each;
    return { name, title, costs: found.costs, checks: checksOf(each, found.costs, median) };
  });
}

/** Where and when, and how many targets are kept. */
export function storyOf({ surroundings, cases }: Results): string {
  const { date, fileSystem, cores, processor, load, node, git } = surroundings;
  const rounds = cases.flatMap(({ costs }) => Object.values(costs).map(({ runs }) => runs.length));
  const [fewest, most] = [Math.min(...rounds), Math.max(...rounds)];
  const runs = most === 1 ? 'Single runs' : `Medians of ${fewest} to ${most} runs in turns`;
  const checks = cases.flatMap((each) => each.checks);
  const kept = checks.filter((check) => check.kept).length;
  const busy =
    load > cores
      ? ` The machine was busy with other things (load ${load}): times say little, and ratios are rough.`
      : '';
  return (
    `${runs}, ${date}: ${fileSystem}, ${cores} cores (${processor}), git ${git}, Node ${node}. ` +
    `${kept} of ${checks.length} targets are kept.${busy}`
  );
}

/** The ways that are in the names of entrants. */
export const WAYS_TEXT = [
  '**plan** is a native plan with `agent: claude`, **manifest** the front-matter manifest of',
  'parallel-orchestra, **shell** a native plan with `agent: shell`. All of them, and the script,',
  'start the same stand-in for claude.',
].join(' ');

/** A line for each pair that is compared: ratios, and what they may be at most. */
export function ratioTable(cases: readonly CaseResult[]): string {
  const hasRival = cases.some(({ costs }) => RIVAL in costs);
  const head = ['', 'compared', 'wall', 'CPU', ...(hasRival ? [`${RIVAL}, wall / CPU`] : [])];
  const rows = cases.flatMap((each) =>
    pairsOf(each.checks).map(({ of, over, wall, cpu }, index) => [
      index === 0 ? each.title : '',
      over === null ? of : `${of} / ${over}`,
      checkCell(wall),
      checkCell(cpu),
      ...(hasRival ? [index === 0 ? rivalCell(each) : ''] : []),
    ]),
  );
  const memory = cases
    .flatMap(({ checks }) => checks)
    .filter(({ what }) => what === 'memory')
    .reduce<Check | null>((most, each) => (each.value > (most?.value ?? 0) ? each : most), null);
  const last = ['peak memory of the engine', 'the most of any case', checkCell(memory), ''];
  return tableOf([head, ...rows, [...last, ...(hasRival ? [''] : [])]]);
}

/** A line for each entrant: what it took. */
export function costTable(cases: readonly CaseResult[]): string {
  const head = ['', 'entrant', 'wall', 'CPU', 'engine', 'all processes', 'git processes'];
  const rows = cases.flatMap(({ title, costs }) =>
    Object.entries(costs).map(([name, cost], index) => [
      index === 0 ? title : '',
      name,
      ...(['wall', 'CPU'] as const).map((what) => `${seconds(figureOf(what, cost, median))} s`),
      ...[cost.memory.mainKb, cost.memory.treeKb].map((kb) => `${megabytes(kb)} MB`),
      String(cost.gitProcesses),
    ]),
  );
  return tableOf([head, ...rows]);
}

/** Puts a text between the two markers of a page. */
export function between(page: string, text: string): string {
  const [begin, end] = MARKERS.map((marker) => page.indexOf(marker)) as [number, number];
  if (begin < 0 || end < begin) throw new Error(`no ${MARKERS.join(' … ')} in the page`);
  return `${page.slice(0, begin + MARKERS[0].length)}\n${text}\n${page.slice(end)}`;
}

const MARKERS = ['<!-- measured: begin -->', '<!-- measured: end -->'] as const;

interface Pair {
  readonly of: string;
  readonly over: string | null;
  readonly wall: Check | null;
  readonly cpu: Check | null;
}

function pairsOf(checks: readonly Check[]): readonly Pair[] {
  const pairs = Map.groupBy(
    checks.filter(({ what }) => what !== 'memory'),
    ({ of, over }) => `${of} / ${over}`,
  );
  return [...pairs.values()].map((both) => {
    const find = (what: Target['what']): Check | null =>
      both.find((check) => check.what === what) ?? null;
    const { of, over } = both[0] ?? { of: '', over: null };
    return { of, over, wall: find('wall'), cpu: find('CPU') };
  });
}

function checkCell(check: Check | null): string {
  if (check === null) return '';
  const verdict = check.kept ? '' : ', **missed**';
  return `${amount(check, check.value)} (at most ${amount(check, check.most)}${verdict})`;
}

function amount({ what, over }: Target, value: number): string {
  if (over !== null) return ratio(value);
  return what === 'memory' ? `${megabytes(value)} MB` : `${seconds(value)} s`;
}

function rivalCell({ costs }: CaseResult): string {
  const { [RIVAL]: rival, script } = costs;
  if (rival === undefined) return '';
  const over = (what: 'wall' | 'CPU'): string =>
    ratio(figureOf(what, rival, median) / figureOf(what, script, median));
  return `${over('wall')} / ${over('CPU')}`;
}

function tableOf([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = `|${head.map((_, index) => (index < 2 ? '---|' : '---:|')).join('')}`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

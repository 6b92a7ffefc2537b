/** What was measured, as data and as a table. A ratio is landfast's median over the script's. */

import type { Contestant } from './contestants.ts';
import type { Memory, Times } from './measure.ts';

type Name = Contestant['name'];

/** One size of job: so many tasks in a repository of so many files. */
export interface Cell {
  readonly files: number;
  readonly tasks: number;
  readonly costs: Readonly<Record<Name, Cost>>;
}

export interface Cost {
  /** In the order in which they were run. */
  readonly runs: readonly Times[];
  readonly memory: Memory;
}

export interface Surroundings {
  readonly fileSystem: string;
  readonly cores: number;
  readonly processor: string;
  readonly node: string;
  readonly git: string;
  readonly workers: number;
  readonly rounds: number;
}

/** The numbers of a cell that are printed: medians over the rounds. */
export interface Summary {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly mainKb: number;
  readonly treeKb: number;
}

/** The medians of one contestant. */
export function summaryOf({ runs, memory }: Cost): Summary {
  const wallMs = median(runs.map((run) => run.wallMs));
  return { wallMs, cpuMs: median(runs.map((run) => run.cpuMs)), ...memory };
}

/** How much landfast costs for each unit that the script does. */
export function ratiosOf({ costs }: Cell): Summary {
  const [script, landfast] = [summaryOf(costs.script), summaryOf(costs.landfast)];
  return {
    wallMs: landfast.wallMs / script.wallMs,
    cpuMs: landfast.cpuMs / script.cpuMs,
    mainKb: landfast.mainKb / script.mainKb,
    treeKb: landfast.treeKb / script.treeKb,
  };
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, middle + 1);
  return (low + high) / 2;
}

const WIDTHS = [6, 6, 9, 9, 9, 9, 9];

/** Three lines for each cell: both contestants, and the ratio. */
export function tableText(cells: readonly Cell[]): string {
  const head = ['files', 'tasks', '', 'wall s', 'CPU s', 'main MB', 'tree MB'];
  return [head, ...cells.flatMap(rowsOf)].map(lineOf).join('\n');
}

function rowsOf(cell: Cell): readonly (readonly string[])[] {
  const { files, tasks, costs } = cell;
  const ratios = ratiosOf(cell);
  return [
    [String(files), String(tasks), 'script', ...figuresOf(summaryOf(costs.script))],
    ['', '', 'landfast', ...figuresOf(summaryOf(costs.landfast))],
    ['', '', 'ratio', ...[ratios.wallMs, ratios.cpuMs].map((ratio) => ratio.toFixed(2))],
  ];
}

function figuresOf({ wallMs, cpuMs, mainKb, treeKb }: Summary): readonly string[] {
  const seconds = [wallMs, cpuMs].map((ms) => (ms / 1000).toFixed(2));
  return [...seconds, ...[mainKb, treeKb].map((kb) => (kb / 1024).toFixed(0))];
}

function lineOf(fields: readonly string[]): string {
  return fields
    .map((field, index) => field.padStart(WIDTHS[index] ?? 0))
    .join(' ')
    .trimEnd();
}

/** What was measured, as text for a terminal. */

import type { CaseResult, Check, Statistic } from './results.ts';
import { figureOf } from './results.ts';

const WIDTHS = [-31, 9, 9, 9, 9, 6];

/** A case: one line for each entrant, then one for each target. */
export function tableText(
  { name, title, costs, checks }: CaseResult,
  statistic: Statistic,
): string {
  const head = ['', 'wall s', 'CPU s', 'main MB', 'tree MB', 'git'];
  const rows = Object.entries(costs).map(([entrant, cost]) => [
    entrant,
    ...(['wall', 'CPU'] as const).map((what) => seconds(figureOf(what, cost, statistic))),
    ...[cost.memory.mainKb, cost.memory.treeKb].map(megabytes),
    String(cost.gitProcesses),
  ]);
  const lines = [head, ...rows].map(lineOf);
  return [`${name}: ${title}`, ...lines, ...checks.map(checkText)].join('\n');
}

/** A target, and what was reached. */
export function checkText({ what, of, over, most, perTask, value, kept }: Check): string {
  const verdict = kept ? 'kept  ' : 'MISSED';
  const number = (raw: number): string => {
    if (over !== null) return ratio(raw);
    return what === 'memory' ? `${megabytes(raw)} MB` : `${seconds(raw)} s`;
  };
  const beside = over === null ? '' : ` over ${over}`;
  const each = perTask === true ? ', for each task' : '';
  return `  ${verdict} ${what} of ${of}${beside}${each}: ${number(value)}, at most ${number(most)}`;
}

/** With two decimals. */
export function ratio(value: number): string {
  return value.toFixed(2);
}

/** Without their unit. */
export function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}

/** Without their unit. */
export function megabytes(kb: number): string {
  return (kb / 1024).toFixed(0);
}

function lineOf(fields: readonly string[]): string {
  const padded = fields.map((field, index) => {
    const width = WIDTHS[index] ?? 0;
    return width < 0 ? field.padEnd(-width) : field.padStart(width);
  });
  return `  ${padded.join(' ')}`.trimEnd();
}

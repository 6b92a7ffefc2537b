/**
 * The guard: a small benchmark that fails when something has become grossly slower than promised.
 *
 *   G1. A busy machine can make a run slower and never faster. So the least of several runs counts,
 *       of both sides, and what is too slow is measured again before it is believed.
 *   G2. A target is broken by half as much again. What is promised exactly is for `npm run bench`.
 */

import type { Case } from './cases.ts';
import type { Ground } from './ground.ts';
import type { Options } from './options.ts';
import { type CaseResult, type Cost, checksOf } from './results.ts';
import { measureCase } from './rounds.ts';
import { checkText, tableText } from './table.ts';

const SLACK = 1.5;

/** Runs the guard's cases; the answer is the exit code. */
export async function guard(
  ground: Ground,
  { cases, rounds }: Options,
  signal: AbortSignal,
): Promise<number> {
  const broken: string[] = [];
  for (const each of cases) {
    const guarded = withSlack(each);
    const measure = (): Promise<CaseResult['costs']> =>
      measureCase(ground, guarded, rounds ?? each.rounds, signal);
    let result = resultOf(guarded, await measure());
    if (isBroken(result)) {
      console.error(`${each.name}: too slow; once more`);
      result = resultOf(guarded, bothOf(result.costs, await measure()));
    }
    console.log(`${tableText(result, least)}\n`);
    const slow = result.checks.filter(({ kept }) => !kept);
    broken.push(...slow.map((check) => `${each.name}:${checkText(check)}`));
  }
  for (const line of broken) console.error(`bench: ${line}`);
  return broken.length === 0 ? 0 : 1;
}

/** The same case, with targets that only a gross loss misses. */
export function withSlack(each: Case): Case {
  const targets = each.targets.map((target) => ({ ...target, most: target.most * SLACK }));
  return { ...each, targets };
}

function resultOf(each: Case, costs: CaseResult['costs']): CaseResult {
  return { name: each.name, title: each.title, costs, checks: checksOf(each, costs, least) };
}

function isBroken({ checks }: CaseResult): boolean {
  return checks.some(({ kept }) => !kept);
}

/** The runs of two measurements; the memory of the one that took less. */
function bothOf(first: CaseResult['costs'], second: CaseResult['costs']): CaseResult['costs'] {
  const both = Object.entries(first).map(([name, one]): [string, Cost] => {
    const two = second[name] ?? one;
    const { memory, gitProcesses } = one.memory.mainKb <= two.memory.mainKb ? one : two;
    return [name, { runs: [...one.runs, ...two.runs], memory, gitProcesses }];
  });
  return Object.fromEntries(both);
}

function least(values: readonly number[]): number {
  return Math.min(...values);
}

/**
 * What was measured, as data, and what follows from it.
 *
 *   R1. A figure is the median of the timed runs; for the guard, which must not blame a program for a
 *       busy machine, it is the least.
 *   R2. Everything printed can be computed again from the JSON file: it has every single run.
 */

import type { Case, Target } from './cases.ts';
import type { Memory, Times } from './measure.ts';

/** What one entrant of a case took. */
export interface Cost {
  /** In the order in which they were run. */
  readonly runs: readonly Times[];
  /** Of a run of its own, which came first. */
  readonly memory: Memory;
  /** How many processes of git there were in that run. */
  readonly gitProcesses: number;
}

export interface CaseResult {
  readonly name: string;
  readonly title: string;
  /** By the name of the entrant. */
  readonly costs: Readonly<Record<string, Cost>>;
  readonly checks: readonly Check[];
}

/** A target, what was reached, and whether that will do. */
export interface Check extends Target {
  readonly value: number;
  readonly kept: boolean;
}

export interface Surroundings {
  readonly date: string;
  readonly fileSystem: string;
  readonly cores: number;
  readonly processor: string;
  /** How many processes wanted a core, on average over the last minute before. */
  readonly load: number;
  readonly node: string;
  readonly git: string;
}

export interface Results {
  readonly surroundings: Surroundings;
  readonly cases: readonly CaseResult[];
}

/** Which of several runs counts. */
export type Statistic = (values: readonly number[]) => number;

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, middle + 1);
  return (low + high) / 2;
}

/** What the case's targets say about what was measured; those of absent entrants say nothing. */
export function checksOf(
  { targets, entrants }: Case,
  costs: CaseResult['costs'],
  statistic: Statistic,
): readonly Check[] {
  return targets.map((target) => {
    const value = reached(target, costs, statistic) / taskRatio(target, entrants);
    return { ...target, value, kept: value <= target.most };
  });
}

function reached(
  { what, of, over }: Target,
  costs: CaseResult['costs'],
  statistic: Statistic,
): number {
  const figure = (name: string): number => figureOf(what, costs[name], statistic);
  return over === null ? figure(of) : figure(of) / figure(over);
}

/** One number for all runs of an entrant. */
export function figureOf(
  what: Target['what'],
  cost: Cost | undefined,
  statistic: Statistic,
): number {
  if (cost === undefined) return Number.NaN;
  if (what === 'memory') return cost.memory.mainKb;
  const { runs } = cost;
  return statistic(runs.map((run) => (what === 'wall' ? run.wallMs : run.cpuMs)));
}

function taskRatio({ of, over, perTask = false }: Target, entrants: Case['entrants']): number {
  if (!perTask) return 1;
  const tasks = (name: string | null): number =>
    entrants.find((entrant) => entrant.name === name)?.work.tasks.length ?? Number.NaN;
  return tasks(of) / tasks(over);
}

/** Strikes at every point of a run, or at every so-manieth, and tells which ends were different. */

import { assert } from '../../src/base/assert.ts';
import type { When } from './git-wrapper.ts';
import { type Driven, type End, type Point, runThrough, type Told } from './scene.ts';

export interface Difference {
  /** Where the engines were ended: `before git 17 (17 worktree add …)`. */
  readonly points: readonly string[];
  readonly end: End;
  /** Repository, journal and what the engines said. */
  readonly kept: string | null;
}

export interface Swept {
  readonly points: number;
  /** Points that the engine did not live to see, or never came to: it took another way. */
  readonly missed: number;
  readonly differences: readonly Difference[];
}

export interface Sweep {
  /** Strikes at each so-manieth point. */
  readonly every: number;
  /** So many runs are under way at a time. */
  readonly atOnce: number;
  /** Whether the agents and all else that an engine started die with it. */
  readonly everybody: boolean;
  /** Whether it is the engine that resumes which is struck, after the first was. */
  readonly resumed: boolean;
  /** Whether the engine is halted, and goes on when another one has finished its run. */
  readonly halted: boolean;
}

/** Strikes, compares, and tells how far it is. */
export async function sweep(options: Sweep, tell: (line: string) => void): Promise<Swept> {
  const undisturbed = await runThrough([]);
  const blows = await blowsOf(undisturbed, options);
  const chosen = blows.filter((_, index) => index % options.every === 0);
  const isWanted = (end: End): boolean => isSame(end, undisturbed);
  const differences: Difference[] = [];
  let missed = 0;
  let done = 0;
  const next = chosen.values();
  const work = async (): Promise<void> => {
    for (const points of next) {
      const told = await runThrough(points, isWanted);
      if (!points.every((_, at) => told.engines[at]?.struck === true)) missed += 1;
      if (!isWanted(told)) {
        const difference = differenceOf(points, told);
        differences.push(difference);
        tell(`Different: ${JSON.stringify(difference, null, 2)}`);
      }
      done += 1;
      if (done % 10 === 0) tell(`${done} of ${chosen.length}, ${differences.length} different`);
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));
  return { points: chosen.length, missed, differences };
}

/** What is done to each run: one point, or a first one and one of the engine that resumes. */
async function blowsOf(
  { engines: [first] }: Told,
  { everybody, resumed, halted }: Sweep,
): Promise<readonly (readonly Point[])[]> {
  assert(first !== undefined, 'a run has an engine');
  if (halted) return haltsOf(first).map((point) => [point]);
  if (!resumed) return pointsOf(first, everybody).map((point) => [point]);
  const blows: (readonly Point[])[] = [];
  for (const part of FIRST_BLOWS) {
    const at = Math.ceil(first.facts * part);
    const point = { on: 'fact', at, when: 'after', everybody } as const;
    const { engines } = await runThrough([point]);
    const second = engines[1];
    if (second === undefined) continue;
    blows.push(...pointsOf(second, everybody).map((then) => [point, then]));
  }
  return blows;
}

/** How far a run is, as a part of its facts, when its first engine dies. */
const FIRST_BLOWS = [0.15, 0.5, 0.85];

function pointsOf({ facts, commands, files }: Driven, everybody: boolean): readonly Point[] {
  const upTo = (on: Point['on'], most: number, whens: readonly When[]): readonly Point[] =>
    Array.from({ length: most }, (_, index) =>
      whens.map((when) => ({ on, at: index + 1, when, everybody })),
    ).flat();
  return [
    ...upTo('fact', facts, ['before', 'after']),
    ...upTo('git', commands, ['before', 'during', 'after']),
    ...upTo('file', files, ['after']),
  ];
}

/** Only between what it does: in the middle of writing it would hold the database, or a lock. */
function haltsOf(first: Driven): readonly Point[] {
  return pointsOf(first, false)
    .filter(({ on, when }) => on !== 'file' && when === 'after')
    .map((point) => ({ ...point, halts: true }));
}

function differenceOf(
  points: readonly Point[],
  { code, files, landed, stray, engines, kept }: Told,
): Difference {
  const names = points.map(({ on, at, when }, index) => {
    const command = engines[index]?.at ?? null;
    return `${when} ${on} ${at}${command === null ? '' : ` (${command})`}`;
  });
  return { points: names, end: { code, files, landed, stray }, kept };
}

function isSame(a: End, b: End): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted({ code, files, landed, stray }: End): unknown {
  return [code, Object.entries(files).sort(), Object.entries(landed).sort(), stray];
}

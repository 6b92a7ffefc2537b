/** Strikes at every point of a run, or at every so-manieth, and tells which ends were different. */

import type { When } from './git-wrapper.ts';
import { type End, type Point, runThrough, type Told } from './scene.ts';

export interface Difference {
  readonly point: Point;
  readonly end: End;
  readonly said: string;
}

export interface Swept {
  readonly points: number;
  /** Points that the engine did not live to see, or never came to: it took another way. */
  readonly missed: number;
  readonly differences: readonly Difference[];
}

/** `every` strikes at each so-manieth point; `atOnce` runs are under way at a time. */
export async function sweep(
  options: { readonly every: number; readonly atOnce: number; readonly everybody: boolean },
  tell: (line: string) => void,
): Promise<Swept> {
  const undisturbed = await runThrough(null);
  const points = pointsOf(undisturbed, options.everybody).filter(
    (_, index) => index % options.every === 0,
  );
  const wanted = endOf(undisturbed);
  const differences: Difference[] = [];
  let missed = 0;
  let done = 0;
  const next = points.values();
  const work = async (): Promise<void> => {
    for (const point of next) {
      const told = await runThrough(point);
      if (!told.struck) missed += 1;
      const end = endOf(told);
      if (!isSame(end, wanted)) differences.push({ point, end, said: told.said });
      done += 1;
      if (done % 25 === 0) tell(`${done} of ${points.length}, ${differences.length} different`);
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));
  return { points: points.length, missed, differences };
}

function pointsOf({ facts, commands }: Told, everybody: boolean): readonly Point[] {
  const upTo = (on: Point['on'], most: number, whens: readonly When[]): readonly Point[] =>
    Array.from({ length: most }, (_, index) =>
      whens.map((when) => ({ on, at: index + 1, when, everybody })),
    ).flat();
  return [
    ...upTo('fact', facts, ['before', 'after']),
    ...upTo('git', commands, ['before', 'during', 'after']),
  ];
}

function endOf({ code, files, landed, stray }: End): End {
  return { code, files, landed, stray };
}

function isSame(a: End, b: End): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted({ code, files, landed, stray }: End): unknown {
  return [code, Object.entries(files).sort(), Object.entries(landed).sort(), stray];
}

/** Any accepted plan as the text of a native one. */

import { convert } from '../plan/print/convert.ts';
import { formatProblem } from '../plan/problem.ts';
import { inputOf, readPlan } from './load-plan.ts';
import type { Place } from './place.ts';

export type ConvertedPlan =
  | { readonly kind: 'text'; readonly text: string }
  /** What the native format cannot express, a problem each. */
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/** Converts the plan of a file; null inside an agent of the same plan. */
export async function convertPlan(
  path: string,
  format: string | null,
  place: Place,
  signal: AbortSignal,
): Promise<ConvertedPlan | null> {
  const loaded = await readPlan(path, place, { format }, signal);
  if (loaded === null) return null;
  const { config } = loaded;
  const input = inputOf(path, { root: place.dir, host: place.host, format, config });
  const result = convert({ ...loaded, warnings: loaded.problems }, input);
  if (result.kind === 'text') return result;
  return { kind: 'problems', problems: result.problems.map(formatProblem) };
}

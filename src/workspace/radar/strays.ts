/** The scope guard: which changes are none of a task's business, told while they happen. */

import type { TaskSpec } from '../../model/plan.ts';
import { inScope } from '../../model/scope.ts';

/** The files that a task's scope does not cover, or that it must not touch, sorted. */
export function straysOf(
  { writes, forbids }: Pick<TaskSpec, 'writes' | 'forbids'>,
  files: Iterable<string>,
): readonly string[] {
  const isAstray = (file: string): boolean =>
    inScope(file, forbids) || (writes.length > 0 && !inScope(file, writes));
  return [...files].filter(isAstray).sort();
}

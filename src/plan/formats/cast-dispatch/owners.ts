/** Whether two agents that work at the same time own the same file. */

import type { TaskId } from '../../../model/plan.ts';
import { isLiteral, overlaps } from '../../../model/scope.ts';
import { type ProblemLog, quote } from '../../problem.ts';
import type { Placed } from './fields.ts';

export interface Owner {
  readonly task: TaskId;
  readonly owns: readonly Placed<string>[];
}

/** Each glob is compared with all there is; beyond this only the scheduler keeps them apart. */
const MAX_COMPARED = 100_000;

/** Reports each path that two of these own; all of them may run at the same time. */
export function checkOwners(owners: readonly Owner[], log: ProblemLog): void {
  const claims = owners.flatMap(({ task, owns }) => owns.map((path) => ({ task, path })));
  const exact = new Claims();
  const inside = new Claims();
  for (const claim of claims.filter(({ path }) => isLiteral(path.value))) {
    const folders = foldersOf(claim.path.value);
    const above = folders.map((folder) => exact.ofAnother(folder, claim.task));
    const earlier = above.find((found) => found !== undefined);
    const other = earlier ?? inside.ofAnother(claim.path.value, claim.task);
    if (other !== undefined) report(other, claim, log);
    exact.add(claim.path.value, claim);
    for (const folder of folders.slice(0, -1)) inside.add(folder, claim);
  }
  const globs = claims.filter(({ path }) => !isLiteral(path.value));
  for (const glob of globs.slice(0, Math.ceil(MAX_COMPARED / (claims.length + 1)))) {
    const other = claims.find(
      ({ task, path }) => task !== glob.task && overlaps([path.value], [glob.path.value]),
    );
    if (other !== undefined) report(other, glob, log);
  }
}

interface Claim {
  readonly task: TaskId;
  readonly path: Placed<string>;
}

/** Who claims a path; two of them are enough to find one that is not the asker. */
class Claims {
  readonly #byPath = new Map<string, readonly Claim[]>();

  add(path: string, claim: Claim): void {
    const known = this.#byPath.get(path) ?? [];
    const isNew = known.every(({ task }) => task !== claim.task);
    if (isNew && known.length < 2) this.#byPath.set(path, [...known, claim]);
  }

  ofAnother(path: string, task: TaskId): Claim | undefined {
    return this.#byPath.get(path)?.find((claim) => claim.task !== task);
  }
}

/** The path and every folder it is in. */
function foldersOf(path: string): readonly string[] {
  const steps = path.split('/');
  return steps.map((_, index) => steps.slice(0, index + 1).join('/'));
}

function report(one: Claim, other: Claim, log: ProblemLog): void {
  const shared = one.path.value === other.path.value ? '' : ` and ${quote(one.path.value)}`;
  log.error(
    other.path.at,
    `conflict: ${one.task} and ${other.task} own ${quote(other.path.value)}${shared} at the same time`,
    'give each its own files, or make the batch sequential',
  );
}

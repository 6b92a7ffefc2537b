/**
 * Who owns which file.
 *
 *   W1. A file is CREATEd by one task of all waves.
 *   W2. In one wave a file is changed by one task, unless both change different parts of it.
 *   W3. A task neither CREATEs nor MODIFYs what lies wholly inside its own BOUNDARY. A BOUNDARY
 *       that takes something out of a wider CREATE or MODIFY is fine.
 *
 * Globs are compared as globs. Where brackets make that uncertain, it is a warning.
 */

import { inScope, isLiteral, overlaps } from '../../../model/scope.ts';
import { quote } from '../../problem.ts';
import type { Directive, ScopeEntry } from './scope-text.ts';
import type { CpoTask } from './task.ts';

/** Each is compared with each: more than anybody writes by hand, and still done in a moment. */
const MAX_CLAIMS = 2000;

/** Reports every claim to a file that contradicts another. */
export function checkOwnership(tasks: readonly CpoTask[]): void {
  const claims = tasks.flatMap(claimsOf);
  const beyond = claims[MAX_CLAIMS];
  if (beyond !== undefined) {
    const message = `there are more than ${MAX_CLAIMS} files to CREATE and MODIFY`;
    beyond.task.file?.log.error(beyond.entry.at, message, 'name folders instead: apps/users/**');
    return;
  }
  for (const [index, claim] of claims.entries()) {
    for (const earlier of claims.slice(0, index)) {
      if (earlier.task.id !== claim.task.id) checkPair(earlier, claim);
    }
  }
  for (const claim of claims) checkBoundary(claim);
}

interface Claim {
  readonly task: CpoTask;
  readonly verb: Exclude<Directive, 'boundary'>;
  readonly entry: ScopeEntry;
}

function claimsOf(task: CpoTask): readonly Claim[] {
  const { create = [], modify = [] } = task.file?.scope ?? {};
  return [
    ...create.map((entry) => ({ task, verb: 'create', entry }) as const),
    ...modify.map((entry) => ({ task, verb: 'modify', entry }) as const),
  ];
}

function checkPair(first: Claim, second: Claim): void {
  const bothCreate = first.verb === 'create' && second.verb === 'create';
  if (!bothCreate && first.task.wave !== second.task.wave) return;
  if (!bothCreate && !partsOverlap(first.entry.part, second.entry.part)) return;
  const answer = meeting(first.entry.path, second.entry.path);
  if (answer === 'no') return;
  const one = `${first.verb.toUpperCase()} ${quote(shown(first.entry))} of ${quote(first.task.id)}`;
  const two = `${second.verb.toUpperCase()} ${quote(shown(second.entry))}`;
  const may = answer === 'yes' ? 'is also' : 'may also be';
  const message = `conflict: ${two} of ${quote(second.task.id)} ${may} in ${one}`;
  const remedy = bothCreate
    ? 'a file is created by one task only: give it to one of them'
    : `both are in wave ${second.task.wave}: move one to another wave, or name parts (path::Name)`;
  const log = second.task.file?.log;
  if (answer === 'yes') log?.error(second.entry.at, message, remedy);
  else log?.warning(second.entry.at, message, remedy);
}

function checkBoundary({ task, verb, entry }: Claim): void {
  const fence = (task.file?.scope.boundary ?? []).find(
    (boundary) =>
      partsOverlap(boundary.part, entry.part) &&
      (boundary.path === entry.path || inScope(sampleOf(entry.path), [boundary.path])),
  );
  if (fence === undefined) return;
  const what = `${verb.toUpperCase()} ${quote(shown(entry))}`;
  task.file?.log.error(
    entry.at,
    `conflict: ${what} lies in the task's own BOUNDARY ${quote(shown(fence))}`,
    'remove it from one of the two',
  );
}

/** Whether two parts of one file share something; null is all of it. */
export function partsOverlap(a: string | null, b: string | null): boolean {
  if (a === null || b === null || a === b) return true;
  return a.startsWith(`${b}.`) || b.startsWith(`${a}.`);
}

/** Whether two entries can mean the same file. */
function meeting(a: string, b: string): 'yes' | 'maybe' | 'no' {
  if (isPlain(a) && isPlain(b)) {
    return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`) ? 'yes' : 'no';
  }
  if (isPlain(a) && inScope(a, [b])) return 'yes';
  if (isPlain(b) && inScope(b, [a])) return 'yes';
  if (!overlaps([a], [b])) return 'no';
  return /[[\]()]/.test(a + b) ? 'maybe' : 'yes';
}

/** Names one path: brackets alone are the names of folders, such as `app/[id]`. */
function isPlain(glob: string): boolean {
  return isLiteral(glob) || !/[*?{|\\]/.test(glob);
}

/** Some path that a glob covers, as unlike others as possible. */
function sampleOf(glob: string): string {
  if (isPlain(glob)) return glob;
  return glob
    .replaceAll('**', 'any-0/any-1')
    .replaceAll('*', 'any-2')
    .replaceAll('?', 'q')
    .replace(/\{([^,}]*)[^}]*\}/g, '$1');
}

function shown({ path, part }: ScopeEntry): string {
  return part === null ? path : `${path}::${part}`;
}

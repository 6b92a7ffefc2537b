/**
 * resolutions: what somebody resolved once is not asked again.
 *
 *   R1. A conflict is known only where path and all three versions are the same, whichever side
 *       each was on. Nothing is guessed from something alike.
 *   R2. It is learned from merges that have landed, be they an agent's or a person's, and never
 *       where markers are left.
 *   R3. A candidate made of it is verified like any other.
 */

import { createHash } from 'node:crypto';
import { OperationalError } from '../base/errors.ts';
import { entriesOf, type TreeEntry } from '../git/edit-tree.ts';
import { git, type Sha } from '../git/git.ts';
import { mergesAfter } from '../git/history.ts';
import { type ConflictedPath, mergeTree, type Stage } from '../git/merge-tree.ts';
import type { Ground } from '../workspace/ground.ts';

/** What a file should be, and the run that says so. */
export interface Remembered {
  readonly entry: TreeEntry | null;
  readonly run: string;
}

const MOST_MERGES = 50;
/** What git calls one path that stays where it is; names it has made up itself are never known. */
const KINDS: ReadonlySet<ConflictedPath['kind']> = new Set([
  ...(['content', 'both-added', 'binary', 'mode'] as const),
  ...(['deleted-by-ours', 'deleted-by-theirs'] as const),
]);

/** How a conflict was resolved before; null where nobody knows. */
export async function recall(
  { resolutions, plan, repository }: Ground,
  conflict: ConflictedPath,
  signal: AbortSignal,
): Promise<Remembered | null> {
  if (plan.landing.remember === false || !KINDS.has(conflict.kind)) return null;
  const known = resolutions.recall(keyOf(conflict));
  if (known === null) return null;
  const { mode, object, run } = known;
  if (object === null) return { entry: null, run };
  const there = await git(repository.commonDir, ['cat-file', '-e', object], signal, {
    okCodes: [0, 1, 128],
  });
  return there.code === 0 ? { entry: { mode, object }, run } : null;
}

/** Learns from the merges in work that has just landed. What goes wrong here is no loss. */
export async function learnFrom(
  ground: Ground,
  landed: { readonly onto: Sha; readonly works: readonly Sha[] },
  signal: AbortSignal,
): Promise<void> {
  if (ground.plan.landing.remember === false || landed.works.length === 0) return;
  try {
    const { commonDir } = ground.repository;
    const merges = await mergesAfter(commonDir, { from: landed.onto, to: landed.works }, signal);
    for (const { commit, parents } of merges.slice(0, MOST_MERGES)) {
      const [ours, theirs, ...more] = parents;
      if (ours === undefined || theirs === undefined || more.length > 0) continue;
      await learnMerge(ground, { commit, ours, theirs }, signal);
    }
  } catch (error) {
    if (!signal.aborted && !(error instanceof OperationalError)) throw error;
  }
}

async function learnMerge(
  ground: Ground,
  { commit, ours, theirs }: { readonly commit: Sha; readonly ours: Sha; readonly theirs: Sha },
  signal: AbortSignal,
): Promise<void> {
  const dir = ground.repository.commonDir;
  const merged = await mergeTree(dir, ours, theirs, signal);
  if (merged.kind === 'clean') return;
  const conflicts = merged.conflicts.filter(({ kind }) => KINDS.has(kind));
  const paths = conflicts.map(({ path }) => path);
  const entries = await entriesOf(dir, commit, paths, signal);
  for (const conflict of conflicts) {
    const entry = entries.get(conflict.path) ?? null;
    if (entry !== null && (await hasMarkers(dir, entry, signal))) continue;
    const { mode = '', object = null } = entry ?? {};
    ground.resolutions.learn(keyOf(conflict), { mode, object, run: ground.run }, Date.now());
  }
}

async function hasMarkers(dir: string, { object }: TreeEntry, signal: AbortSignal) {
  const { stdout } = await git(dir, ['cat-file', 'blob', object], signal, { okCodes: [0, 128] });
  return /^(?:<{7}|>{7}) /m.test(stdout);
}

/** The same whichever side is which. */
function keyOf({ path, base, ours, theirs }: ConflictedPath): string {
  const name = (stage: Stage | null): string =>
    stage === null ? '-' : `${stage.mode} ${stage.object}`;
  const all = [path, name(base), ...[name(ours), name(theirs)].sort()];
  return createHash('sha256').update(all.join('\0')).digest('hex');
}

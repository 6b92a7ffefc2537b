/**
 * repair-slots: what somebody or a crash made of a pool's slots, and of git's entries, that would be
 * in the way for ever.
 *
 *   T1. An entry of git for a slot in which something else is, or nothing, is deleted: another one
 *       with the same place would follow, and git may believe the wrong one. Nothing is lost: what
 *       waits in a pool holds no work.
 *   T2. What a living process is just doing is left alone. A workspace is always in the pool's folder
 *       or git has just been told where it goes. So the folder is read before the entries, and an
 *       entry counts if git was told long ago; or if its slot is empty, nobody has a claim, and
 *       git was told nothing else until that was seen, in this order.
 *   T3. A folder that is no worktree goes if it is empty; what somebody has put there is his.
 *   T4. An entry that does not say of which worktree it is was deleted half way. It goes as with
 *       `git worktree prune`, unless it is locked, when nobody has touched it for a while.
 */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { realpath, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gitDirOf } from '../git/git-dir.ts';
import { claims, idleSlots } from './idle.ts';
import { folderTouchedAt } from './touched.ts';

/** Nothing that is done to an entry or a slot takes that long. */
const SETTLED_MS = 10 * 60_000;

/** Deletes entries and folders that nobody can use. */
export async function repairSlots(place: {
  readonly commonDir: string;
  readonly folder: string;
}): Promise<void> {
  const { commonDir, folder } = place;
  const used = await entriesIn(folder);
  const entries = await realpath(join(commonDir, 'worktrees')).catch(() => null);
  for (const name of used === null || entries === null ? [] : namesIn(entries)) {
    const entry = join(entries ?? '', name);
    const isStale = !used?.has(entry) && (isLeftBehind(entry, folder) || isHalfGone(entry));
    if (isStale) await rm(entry, { recursive: true, force: true });
  }
  for (const slot of idleSlots(folder)) {
    await rmdir(join(folder, `${slot}`)).catch(() => undefined); // Fails where anything is in it.
  }
}

/** The entries of all that is in a pool's folder; null where one has just been moved. */
async function entriesIn(folder: string): Promise<ReadonlySet<string> | null> {
  const entries = new Set<string>();
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const link = existsSync(join(path, '.git')) ? await gitDirOf(path) : null;
    if (link === null && !existsSync(path)) return null;
    const entry = link === null ? null : await realpath(link).catch(() => null);
    if (entry !== null) entries.add(entry);
  }
  return entries;
}

/** Whether an entry is that of a slot to which no workspace is on its way. */
function isLeftBehind(entry: string, folder: string): boolean {
  const told = toldIn(entry);
  if (told === null || dirname(told.slot) !== folder) return false;
  if (!/^[1-9]\d*$/.test(basename(told.slot))) return false;
  if (Date.now() - told.atMs >= SETTLED_MS) return true;
  // Looked at before and after: a claim may become the slot in between, or the slot a claim.
  const isEmpty = (): boolean => existsSync(folder) && !existsSync(told.slot);
  const isQuiet = isEmpty() && claims(folder).length === 0 && isEmpty();
  return isQuiet && toldIn(entry)?.atMs === told.atMs;
}

/** Whether an entry is what is left of one that somebody was deleting. */
function isHalfGone(entry: string): boolean {
  const isSaid = ['gitdir', 'locked'].some((name) => existsSync(join(entry, name)));
  return !isSaid && Date.now() - folderTouchedAt(entry) >= SETTLED_MS;
}

/** Where git was told that a workspace is, and when; null where somebody else is at it. */
function toldIn(entry: string): { readonly slot: string; readonly atMs: number } | null {
  const file = join(entry, 'gitdir');
  try {
    const atMs = statSync(file).mtimeMs;
    return { slot: dirname(readFileSync(file, 'utf8').trimEnd()), atMs };
  } catch {
    return null;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

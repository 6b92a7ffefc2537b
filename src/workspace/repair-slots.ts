/**
 * repair-slots: what somebody or a crash made of a pool's slots that would be in the way for ever.
 *
 *   T1. An entry of git for a slot in which something else is, or nothing, is deleted: another one
 *       with the same place would follow, and git may believe the wrong one. Nothing is lost: what
 *       waits in a pool holds no work.
 *   T2. What a living process is just doing is left alone. A workspace is always in the pool's folder
 *       or git has just been told where it goes: so the folder is read first, and only what git was
 *       told long ago counts. Where nobody else has one in his hands, the pool does not wait
 *       for that (`forgetGone`).
 *   T3. A folder that is no worktree goes if it is empty; what somebody has put there is his.
 */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { realpath, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gitDirOf } from '../git/git-dir.ts';
import { idleSlots } from './idle.ts';

/** No rename takes that long. */
const SETTLED_MS = 10 * 60_000;

/** Deletes entries and folders of slots that nobody can use. */
export async function repairSlots(place: {
  readonly commonDir: string;
  readonly folder: string;
}): Promise<void> {
  const { commonDir, folder } = place;
  const used = await entriesIn(folder);
  const entries = await realpath(join(commonDir, 'worktrees')).catch(() => null);
  for (const name of used === null || entries === null ? [] : namesIn(entries)) {
    const entry = join(entries ?? '', name);
    const isStale = !used?.has(entry) && saysSlot(entry, folder);
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

/** Whether an entry has long been that of a slot. */
function saysSlot(entry: string, folder: string): boolean {
  try {
    const told = join(entry, 'gitdir');
    const slot = dirname(readFileSync(told, 'utf8').trimEnd());
    const isSlot = dirname(slot) === folder && /^[1-9]\d*$/.test(slot.slice(folder.length + 1));
    return isSlot && Date.now() - statSync(told).mtimeMs >= SETTLED_MS;
  } catch {
    return false; // Somebody else is at it.
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

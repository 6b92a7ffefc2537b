/**
 * Folders for what a git command needs for a moment: an index of its own, a pack, attributes.
 *
 *     <common dir>/landfast/temp/<pid>-<random>
 *
 *   F1. One goes when its work is done. What a killed process left is swept away by the next.
 */

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startOf } from '../process/table.ts';
import { commonDirOf } from './git-dir.ts';

/** Runs `work` with an empty private folder. */
export async function withTempFolder<T>(
  dir: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const place = tempIn(commonDirOf(dir));
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(place, `${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes what processes that are not there any more have left. */
export async function sweepTempFolders(commonDir: string): Promise<void> {
  const place = tempIn(commonDir);
  for (const name of existsSync(place) ? readdirSync(place) : []) {
    if (startOf(Number.parseInt(name, 10)) !== null) continue;
    await rm(join(place, name), { recursive: true, force: true });
  }
}

function tempIn(commonDir: string): string {
  return join(commonDir, 'landfast', 'temp');
}

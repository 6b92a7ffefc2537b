/**
 * Temporary folders for single git commands: `<common dir>/landfast/temp/<pid>-<random>`. Each is
 * removed after use; the next process sweeps what a killed one left.
 */

import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolders } from '../base/make-folders.ts';
import { startOf } from '../process/process-list.ts';
import { scratchFolder, scratchFolders } from '../process/scratch.ts';
import { commonDirOf, realOf } from './git-dir.ts';

/** Runs `work` with an empty private folder. */
export async function withTempFolder<T>(
  dir: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const place = tempIn(commonDirOf(dir));
  makeFolders(place, 0o700);
  return spend(await mkdtemp(join(place, `${process.pid}-`)), work);
}

/** The same outside of `.git`: some programs of users refuse or overlook files in hidden folders. */
export async function withPlainFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  return spend(realOf(scratchFolder(PLAIN)), work);
}

const PLAIN = 'merge';

async function spend<T>(folder: string, work: (folder: string) => Promise<T>): Promise<T> {
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes what dead processes left. */
export async function sweepTempFolders(commonDir: string): Promise<void> {
  const place = tempIn(commonDir);
  const names = existsSync(place) ? readdirSync(place) : [];
  const plain = scratchFolders(PLAIN);
  for (const path of [...names.map((name) => join(place, name)), ...plain]) {
    const pid = /(\d+)-[^-]*$/.exec(basename(path))?.[1];
    if (pid !== undefined && startOf(Number(pid)) !== null) continue;
    await rm(path, { recursive: true, force: true });
  }
}

function tempIn(commonDir: string): string {
  return join(commonDir, 'landfast', 'temp');
}

export type OwnIndex = { readonly GIT_INDEX_FILE: string };

/** Runs `work` with an index of its own, which does not exist yet. */
export async function withOwnIndex<T>(
  dir: string,
  work: (env: OwnIndex) => Promise<T>,
): Promise<T> {
  return withTempFolder(dir, (folder) => work({ GIT_INDEX_FILE: `${folder}/index` }));
}

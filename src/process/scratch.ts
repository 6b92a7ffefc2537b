/**
 * Temporary folders of a run. A name says whose they are, so that what a killed engine left behind
 * is found by the one that goes on.
 *
 *   F1. Mode 0700, below the system's temporary folder: `landfast-<run>-<pid>-<random>`.
 *   F2. An attempt that left its folder as it was leaves it to the next one.
 *   F3. Only folders of the same run and of another process are swept; call it when nothing of that
 *       process is alive any more.
 *   F4. What cannot be removed stays and harms nobody: no run fails for it.
 */

import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder for this process's part in a run. */
export function scratchFolder(run: string): string {
  return mkdtempSync(join(tmpdir(), `${ours(run)}-`));
}

const unused = new Map<string, string[]>();

/** A folder for an attempt: empty, and nobody else's. */
export function takeScratch(run: string): string {
  const waiting = unused.get(run) ?? [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (isUnused(path)) return path;
    void discard(path); // Somebody tidied up, or was not gone yet.
  }
  return scratchFolder(run);
}

/** One that is still as it was made serves the next attempt; making it anew would cost more. */
export async function giveScratch(run: string, path: string): Promise<void> {
  if (!isUnused(path)) return clear(path);
  const others = unused.get(run) ?? [];
  unused.set(run, [...others, path]);
}

/** Removes those that wait. */
export async function closeScratch(run: string): Promise<void> {
  const waiting = unused.get(run) ?? [];
  unused.delete(run);
  await Promise.all(waiting.map(discard));
}

/** Removes a folder that holds little: at once, where nothing is in the way. */
export async function discard(path: string): Promise<void> {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    await clear(path);
  }
}

/** Removes a folder that may hold anything, and to which somebody may still be writing. */
async function clear(path: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 });
  await remove()
    .catch(() => openUp(path).then(remove))
    .catch(() => undefined);
}

/** Some tools leave folders that their owner may not write to. */
async function openUp(dir: string): Promise<void> {
  await chmod(dir, 0o700);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) await openUp(join(dir, entry.name));
  }
}

function isUnused(path: string): boolean {
  try {
    const stat = lstatSync(path);
    return stat.isDirectory() && (stat.mode & 0o7777) === 0o700 && readdirSync(path).length === 0;
  } catch {
    return false; // Gone, or somebody else's by now.
  }
}

/** Removes what other processes left of a run. */
export async function sweepScratch(run: string): Promise<void> {
  const dir = tmpdir();
  const others = readdirSync(dir).filter(
    (name) => name.startsWith(`landfast-${run}-`) && !name.startsWith(`${ours(run)}-`),
  );
  await Promise.all(others.map((name) => clear(join(dir, name))));
}

/** The folders of a run, whichever process made them. */
export function scratchFolders(run: string): readonly string[] {
  const dir = tmpdir();
  const begin = `landfast-${run}-`;
  return readdirSync(dir)
    .filter((name) => name.startsWith(begin) && /^\d+-/.test(name.slice(begin.length)))
    .map((name) => join(dir, name));
}

function ours(run: string): string {
  return `landfast-${run}-${process.pid}`;
}

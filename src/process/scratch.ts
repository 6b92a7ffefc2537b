/**
 * Temporary folders of a run. A name says whose they are, so that what a killed engine left behind
 * is found by the one that goes on.
 *
 *   F1. Mode 0700, below the system's temporary folder: `landfast-<run>-<pid>-<random>`.
 *   F2. An attempt that left its folder as it was leaves it to the next one.
 *   F3. Only folders of the same run and of another process are swept; call it when nothing of that
 *       process is alive any more.
 */

import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
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
    rmSync(path, { recursive: true, force: true }); // Somebody tidied up, or was not gone yet.
  }
  return scratchFolder(run);
}

/** One that is still as it was made serves the next attempt; making it anew would cost more. */
export async function giveScratch(run: string, path: string): Promise<void> {
  if (!isUnused(path)) return rm(path, { recursive: true, force: true });
  const others = unused.get(run) ?? [];
  unused.set(run, [...others, path]);
}

/** Removes those that wait. */
export function closeScratch(run: string): void {
  for (const path of unused.get(run) ?? []) rmSync(path, { recursive: true, force: true });
  unused.delete(run);
}

function isUnused(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true || (stat.mode & 0o7777) !== 0o700) return false;
  return readdirSync(path).length === 0;
}

/** Removes what other processes left of a run. */
export function sweepScratch(run: string): void {
  const dir = tmpdir();
  const others = readdirSync(dir).filter(
    (name) => name.startsWith(`landfast-${run}-`) && !name.startsWith(`${ours(run)}-`),
  );
  for (const name of others) rmSync(join(dir, name), { recursive: true, force: true });
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

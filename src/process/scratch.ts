/**
 * Temporary folders of a run. A name says whose they are, so that what a killed engine left behind
 * is found by the one that goes on.
 *
 *   F1. Mode 0700, below the system's temporary folder: `landfast-<run>-<pid>-<random>`.
 *   F2. Only folders of the same run and of another process are swept; call it when nothing of that
 *       process is alive any more.
 */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a folder for this process's part in a run. */
export function scratchFolder(run: string): string {
  return mkdtempSync(join(tmpdir(), `${ours(run)}-`));
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

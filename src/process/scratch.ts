/**
 * The system's temporary folder, and the folders of runs in it: `landfast-<run>-<pid>-<random>`,
 * mode 0700. A resumed run finds by name what a killed engine left behind.
 *
 * - A folder that an attempt left untouched serves the next one.
 * - Only folders of the same run and of another process are swept, when no process of that engine
 *   is alive.
 * - A folder that cannot be removed stays; no run fails for it. One that cannot be written is
 *   reported with a remedy.
 */

import { lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, OperationalError, otherwise, rethrowBug, trySystem } from '../base/errors.ts';
import { environment, PerRuntime } from '../base/runtime.ts';

export function scratchFolder(run: string): string {
  return newTempFolder(`${ownPrefix(run)}-`);
}

/** Makes an empty private folder. */
export function newTempFolder(prefix: string): string {
  try {
    return mkdtempSync(join(tempRoot(), prefix));
  } catch (error) {
    throw noTempFolder(error);
  }
}

/** Throws where there is no room for temporary files, before a run breaks halfway. */
export function requireTempFolder(): void {
  const folder = newTempFolder('landfast-test-');
  try {
    requireRoomIn(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function requireRoomIn(folder: string): void {
  const file = join(folder, 'room');
  try {
    writeFileSync(file, Buffer.alloc(LEAST_BYTES));
  } catch (error) {
    throw noTempFolder(error);
  } finally {
    rmSync(file, { force: true });
  }
}

export function noTempFolder(cause: unknown): OperationalError {
  const message = `Temporary files cannot be written to ${tempRoot()}: ${messageOf(cause)}`;
  const remedy = 'Make room there, or set TMPDIR to a folder that can be written.';
  return new OperationalError(message, { remedy, cause });
}

/** The next few commands would fill less than that. */
const LEAST_BYTES = 1024 ** 2;

/** Where temporary files go, as Node's `tmpdir` finds it, but for the current runtime. */
export function tempRoot(): string {
  const { TMPDIR, TMP, TEMP } = environment();
  return (TMPDIR || TMP || TEMP || '/tmp').replace(/(?<=.)\/$/, '');
}

const unused = new PerRuntime<string[]>(
  () => [],
  async (waiting) => void (await Promise.all(waiting.map(discard))),
);

/** An empty folder for one attempt. */
export function takeScratch(run: string): string {
  const waiting = unused.current ?? [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (isUnused(path)) return path;
    void discard(path); // A late process of the last attempt wrote to it, or removed it.
  }
  return scratchFolder(run);
}

/** Returns the folder of an attempt. */
export async function giveScratch(path: string): Promise<void> {
  const waiting = unused.current;
  if (waiting === null || !isUnused(path)) return clear(path);
  waiting.push(path);
}

/** Removes a small folder, synchronously where possible. */
export async function discard(path: string): Promise<void> {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    rethrowBug(error);
    await clear(path);
  }
}

/** Removes a folder of any size, to which a process may still be writing. */
async function clear(path: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 });
  await remove()
    .catch(async (error: unknown) => {
      rethrowBug(error);
      await makeWritable(path);
      await remove();
    })
    .catch(otherwise(undefined));
}

/** Some tools leave folders without write permission. */
async function makeWritable(dir: string): Promise<void> {
  await chmod(dir, 0o700);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(dir, entry.name));
  }
}

function isUnused(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true || (stat.mode & 0o7777) !== 0o700) return false;
  return trySystem(() => readdirSync(path).length === 0, false); // Removed or taken in between.
}

/** Removes what other processes left of a run. */
export async function sweepScratch(run: string): Promise<void> {
  const dir = tempRoot();
  const others = namesIn(dir).filter(
    (name) => name.startsWith(`landfast-${run}-`) && !name.startsWith(`${ownPrefix(run)}-`),
  );
  await Promise.all(others.map((name) => clear(join(dir, name))));
}

/** The folders of a run, of any process. */
export function scratchFolders(run: string): readonly string[] {
  const dir = tempRoot();
  const begin = `landfast-${run}-`;
  return namesIn(dir)
    .filter((name) => name.startsWith(begin) && /^\d+-/.test(name.slice(begin.length)))
    .map((name) => join(dir, name));
}

function namesIn(dir: string): readonly string[] {
  return trySystem(() => readdirSync(dir), []);
}

function ownPrefix(run: string): string {
  return `landfast-${run}-${process.pid}`;
}

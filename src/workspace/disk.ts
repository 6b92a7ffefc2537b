/**
 * disk: free space on the disks of a run, and the space that the runs of its repository take.
 * Measuring is bounded: `look` reads a limited number of folder entries and continues there the
 * next time. A folder counts with its last known size, a new one with what was read so far, an
 * unreadable one as empty.
 */

import { existsSync, readdirSync } from 'node:fs';
import { lstat, readdir, readFile, statfs } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { otherwise, trySystem } from '../base/errors.ts';
import { environment } from '../base/runtime.ts';
import { capture } from '../process/capture.ts';

/** Free bytes on the fullest disk; null if unknown. */
export async function freeBytes(dirs: readonly string[]): Promise<number | null> {
  const free = await Promise.all(
    dirs.map(async (dir) => {
      const { bavail, bsize, blocks } = await statfs(existing(dir));
      return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize; // Some file systems report no size.
    }),
  ).catch(otherwise([]));
  const least = Math.min(...free);
  return Number.isFinite(least) ? least : null;
}

/** The names in a folder; none where it is missing or cannot be read. */
export function namesIn(folder: string): readonly string[] {
  return trySystem(() => readdirSync(folder), []);
}

/** A folder, or its nearest existing ancestor. */
export function existing(dir: string): string {
  return existsSync(dir) || dirname(dir) === dir ? dir : existing(dirname(dir));
}

export async function worktreesBelow(
  commonDir: string,
  folder: string,
): Promise<readonly string[]> {
  const registry = join(commonDir, 'worktrees');
  const names = await readdir(registry).catch(otherwise([]));
  const paths = await Promise.all(
    names.map((name) => readFile(join(registry, name, 'gitdir'), 'utf8').catch(otherwise(''))),
  );
  return paths.map((path) => dirname(path.trim())).filter((path) => path.startsWith(folder + sep));
}

interface Walk {
  readonly folder: string;
  readonly ahead: string[];
  bytes: number;
}

export class Usage {
  readonly #folders: () => Promise<readonly string[]>;
  readonly #sizes = new Map<string, number>();
  #queue: string[] = [];
  #walk: Walk | null = null;

  /** `folders` lists the current ones; none contains another. */
  constructor(folders: () => Promise<readonly string[]>) {
    this.#folders = folders;
  }

  /** The size of all folders, as far as known. */
  get bytes(): number {
    const seen = this.#walk === null ? 0 : this.#walk.bytes;
    const before = this.#sizes.get(this.#walk?.folder ?? '') ?? 0;
    const sum = [...this.#sizes.values()].reduce((all, size) => all + size, 0);
    return sum - before + Math.max(before, seen);
  }

  forget(folder: string): void {
    this.#sizes.delete(folder);
    if (this.#walk?.folder === folder) this.#walk = null;
  }

  /** Reads at most so many entries; true once every folder is measured. */
  async look(most: number, signal: AbortSignal): Promise<boolean> {
    const folders = await this.#folders();
    for (const gone of [...this.#sizes.keys()].filter((each) => !folders.includes(each))) {
      this.forget(gone);
    }
    const isNew = (folder: string): boolean => !this.#sizes.has(folder);
    this.#queue = this.#queue.filter((folder) => folders.includes(folder));
    if (this.#queue.length === 0) this.#queue = [...folders];
    this.#queue.sort((one, other) => Number(isNew(other)) - Number(isNew(one)));
    let left = most;
    while (left > 0 && !signal.aborted) {
      this.#walk ??= walkOf(this.#queue.shift());
      if (this.#walk === null) break;
      left -= await step(this.#walk);
      if (this.#walk.ahead.length > 0) continue;
      this.#sizes.set(this.#walk.folder, this.#walk.bytes);
      this.#walk = null;
    }
    return folders.every((folder) => this.#sizes.has(folder));
  }
}

function walkOf(folder: string | undefined): Walk | null {
  return folder === undefined ? null : { folder, ahead: [folder], bytes: 0 };
}

async function step(walk: Walk): Promise<number> {
  const dir = walk.ahead.pop();
  if (dir === undefined) return 1;
  const entries = await readdir(dir, { withFileTypes: true }).catch(otherwise([]));
  for (const entry of entries) if (entry.isDirectory()) walk.ahead.push(join(dir, entry.name));
  const files = entries.filter((entry) => !entry.isDirectory());
  const sizes = await Promise.all(
    files.map(({ name }) =>
      lstat(join(dir, name)).then(
        ({ blocks, size }) => (blocks === 0 ? size : blocks * 512),
        () => 0,
      ),
    ),
  );
  walk.bytes += sizes.reduce((all, size) => all + size, 0);
  return 1 + entries.length;
}

/** Bytes below the paths, relative to `dir`, as far as they can be read. */
export async function diskUse(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  if (paths.length === 0) return 0;
  const args = ['-sk', '--', ...paths.map((path) => `./${path}`)];
  const command = { file: 'du', args, cwd: dir, env: environment(), stdin: '' };
  const { stdout } = await capture(command, signal);
  const sizes = stdout.split('\n').map((line) => Number.parseInt(line, 10));
  return sizes.reduce((sum, size) => sum + (Number.isNaN(size) ? 0 : size * 1024), 0);
}

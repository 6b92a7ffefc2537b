/**
 * disk: what is free on the disks of a run, and what its repository's runs take of them.
 *
 *   K1. Measuring is bounded: `look` reads at most so many folder entries and goes on from there the
 *       next time. A folder counts with what was last seen in it, a new one with what was seen so
 *       far, and one that is gone not at all.
 *   K2. Nothing here fails a run: what cannot be read counts as nothing.
 */

import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, statfs } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';

/** Free bytes on the disk with the least of them; null where the system does not tell. */
export async function freeBytes(dirs: readonly string[]): Promise<number | null> {
  const free = await Promise.all(
    dirs.map(async (dir) => {
      const { bavail, bsize, blocks } = await statfs(existing(dir));
      return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize; // Some do not count.
    }),
  ).catch(() => []);
  const least = Math.min(...free);
  return Number.isFinite(least) ? least : null;
}

/** A folder, or the nearest one above it that is there. */
function existing(dir: string): string {
  return existsSync(dir) || dirname(dir) === dir ? dir : existing(dirname(dir));
}

/** The worktrees of a repository that lie below a folder, as git has noted them. */
export async function worktreesBelow(
  commonDir: string,
  folder: string,
): Promise<readonly string[]> {
  const registry = join(commonDir, 'worktrees');
  const names = await readdir(registry).catch(() => []);
  const paths = await Promise.all(
    names.map((name) => readFile(join(registry, name, 'gitdir'), 'utf8').catch(() => '')),
  );
  return paths.map((path) => dirname(path.trim())).filter((path) => path.startsWith(folder + sep));
}

/** A walk through one folder, as far as it has come. */
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

  /** `folders` says which there are now; none lies in another. */
  constructor(folders: () => Promise<readonly string[]>) {
    this.#folders = folders;
  }

  /** What all of them take, as far as they have been seen. */
  get bytes(): number {
    const seen = this.#walk === null ? 0 : this.#walk.bytes;
    const before = this.#sizes.get(this.#walk?.folder ?? '') ?? 0;
    const sum = [...this.#sizes.values()].reduce((all, size) => all + size, 0);
    return sum - before + Math.max(before, seen);
  }

  /** A folder is gone. */
  forget(folder: string): void {
    this.#sizes.delete(folder);
    if (this.#walk?.folder === folder) this.#walk = null;
  }

  /** Goes on measuring for at most so many entries; true once every folder has been measured. */
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

/** Reads one folder of a walk; answers with how many entries that were. */
async function step(walk: Walk): Promise<number> {
  const dir = walk.ahead.pop();
  if (dir === undefined) return 1;
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
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

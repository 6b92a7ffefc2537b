/**
 * seeds: what a set-up made, kept once and copied into every new workspace with the same key.
 *
 *     <state>/seeds/<name>/seed.json       what it is; its time is that of its last use
 *     <state>/seeds/<name>/files/…         the files and folders, where they were in the workspace
 *     <state>/seeds/.new-<owner>…          one that a process is storing
 *     <pool>/.seed-<owner>…                a copy on its way into a workspace
 *
 *   E1. A seed is what a set-up that finished left, taken before anybody else had the workspace.
 *   E2. It appears whole, by a rename, and so does a copy of it in a workspace. What a process that
 *       is dead left half is thrown away.
 *   E3. Nobody writes to a seed: a workspace has files of its own. Where the user wants hard links
 *       instead, nobody may write to the files, and a seed that has changed is thrown away.
 *   E4. There are never more than so many, nor more than the disk may hold: the one that was not
 *       used for the longest time goes.
 *   E5. Whatever goes wrong with a seed, set-up can still run: nothing fails because of one.
 */

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deleteFolder } from '../git/delete-folder.ts';
import { ignoredMatching } from '../git/untracked.ts';
import { capture } from '../process/capture.ts';
import type { Claimant } from './claimant.ts';
import { copyTree, type WayWish, wayBetween } from './copy-tree.ts';
import { diskUse } from './disk-use.ts';
import { filesNaming, relocate } from './relocate.ts';
import { forgetSetup, isCovered, noteSetup, type Setup } from './setup.ts';

export interface SeedsPlace {
  readonly folder: string;
  /** A folder on the disk of the workspaces. */
  readonly temp: string;
  /** What is kept, in git's ignore syntax; nothing for no seeds. */
  readonly patterns: readonly string[];
  readonly by: WayWish;
  readonly most: number;
  /** How many bytes all of them may take; null for no limit. */
  readonly disk: number | null;
  readonly me: Claimant;
}

/** What is known of a seed. */
export interface Seed {
  readonly name: string;
  /** Paths in a workspace; folders end with a slash. */
  readonly paths: readonly string[];
  readonly bytes: number;
  /** When it was stored, and last used. */
  readonly at: number;
  readonly usedAt: number;
}

interface Stored extends Omit<Seed, 'name' | 'usedAt'> {
  readonly setup: Setup;
  /** Files that name the workspace's folder. */
  readonly naming: readonly string[];
  /** Sizes and times of all files; null where the system does not tell. */
  readonly print: string | null;
}

const NOTE = 'seed.json';
const FILES = 'files';
const FIND_LIMIT_MS = 10 * 60_000;

export class Seeds {
  readonly place: SeedsPlace;
  readonly #making = new Map<string, Promise<unknown>>();
  #swept: Promise<void> | null = null;

  constructor(place: SeedsPlace) {
    this.place = place;
  }

  /** Does work that may store a seed of a key: whoever wants one meanwhile can wait for it. */
  async while<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#making.has(key)) return work();
    const made = work();
    this.#making.set(key, made);
    return made.finally(() => this.#making.delete(key));
  }

  /** Waits while somebody else of this process may be about to store a seed of the key. */
  async wait(key: string, signal: AbortSignal): Promise<boolean> {
    const made = this.#making.get(key);
    if (made === undefined) return false;
    const stop = new AbortController();
    const aborted = new Promise<void>((resolve) => {
      const options = { once: true, signal: stop.signal };
      signal.addEventListener('abort', () => resolve(), options);
    });
    const settled = made.then(
      () => undefined,
      () => undefined,
    );
    await Promise.race([settled, aborted]);
    stop.abort();
    signal.throwIfAborted();
    return true;
  }

  /** Lays what a set-up with this key made into a workspace; false where there is no such seed. */
  async lay(dir: string, key: string, signal: AbortSignal): Promise<boolean> {
    await this.#sweepOnce(signal);
    const name = this.#nameOf(key);
    const stored = this.#read(name);
    if (stored === null || !stored.paths.every((path) => isReached(dir, path))) return false;
    const from = join(this.place.folder, name, FILES);
    if (stored.print !== (await printOf(from, signal))) {
      await this.remove(name, signal);
      return false;
    }
    // Files can be renamed within one file system only.
    const temp = join(this.place.temp, `.seed-${this.place.me.name}.${randomUUID()}`);
    try {
      if (!(await this.#copyAll(stored.paths, { from, to: join(temp, 'new') }, signal)))
        return false;
      await forgetSetup(dir);
      const { naming: files, setup } = stored;
      await relocate(join(temp, 'new'), { files, from: setup.at, to: dir }, signal);
      signal.throwIfAborted();
      await moveAll(stored.paths, { from: join(temp, 'new'), to: dir, old: join(temp, 'old') });
      await noteSetup(dir, setup, signal);
      const now = new Date();
      await utimes(join(this.place.folder, name, NOTE), now, now).catch(() => undefined);
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      return false;
    } finally {
      await deleteFolder(temp, AbortSignal.timeout(FIND_LIMIT_MS)).catch(() => undefined);
    }
  }

  /** Stores what a set-up has just made; what it says is why that could not be, or null. */
  async store(dir: string, setup: Setup, signal: AbortSignal): Promise<string | null> {
    const { folder, patterns, me, by } = this.place;
    const name = this.#nameOf(setup.key);
    const why = refusal(setup);
    if (why !== null || existsSync(join(folder, name))) return why;
    const paths = await ignoredMatching(dir, patterns, signal);
    const missed = setup.made.filter((path) => !isCovered([path], paths));
    if (missed.length > 0) return `workspace.seed does not name ${missed.join(', ')}`;
    const temp = join(folder, `.new-${me.name}.${randomUUID()}`);
    try {
      const to = join(temp, FILES);
      await mkdir(to, { recursive: true });
      // Hard links are for copies of a seed, not for what a workspace goes on with.
      const isCopied = await this.#copyAll(paths, { from: dir, to }, signal);
      const naming = isCopied ? await filesNaming(to, { paths, name: dir }, signal) : null;
      if (naming === null) return 'it could not be copied';
      if (by === 'link') await forbidWriting(to, signal);
      const [bytes, print] = [await diskUse(to, paths, signal), await printOf(to, signal)];
      if (by === 'link' && print === null) return 'this system cannot tell whether it is changed';
      const stored: Stored = { setup, paths, naming, bytes, print, at: Date.now() };
      await writeFile(join(temp, NOTE), JSON.stringify(stored));
      await rename(temp, join(folder, name)).catch(() => undefined); // Another one was faster.
    } catch (error) {
      if (signal.aborted) throw error;
      return 'it could not be copied';
    } finally {
      await deleteFolder(temp, AbortSignal.timeout(FIND_LIMIT_MS)).catch(() => undefined);
    }
    await this.#evict(signal);
    return existsSync(join(folder, name)) ? null : 'it is larger than workspace.seed_disk';
  }

  /** All seeds, the one that was used last first. */
  list(): readonly Seed[] {
    return namesIn(this.place.folder)
      .filter((name) => !name.startsWith('.'))
      .flatMap((name) => {
        const stored = this.#read(name);
        if (stored === null) return [];
        const { paths, bytes, at } = stored;
        return [{ name, paths, bytes, at, usedAt: this.#usedAt(name) }];
      })
      .sort((a, b) => b.usedAt - a.usedAt);
  }

  /** Drops the one that was not used for the longest time, for its room; says where it was. */
  async shed(signal: AbortSignal): Promise<string | null> {
    const last = this.list().at(-1);
    if (last === undefined || !(await this.remove(last.name, signal))) return null;
    return join(this.place.folder, last.name);
  }

  /** Removes all of them; says how many. */
  async drain(signal: AbortSignal): Promise<number> {
    await this.#sweep(signal);
    let removed = 0;
    for (const name of namesIn(this.place.folder).filter((each) => !each.startsWith('.'))) {
      if (await this.remove(name, signal)) removed += 1;
    }
    return removed;
  }

  /** It is gone at once; a copy that is under way fails, and its workspace is set up instead. */
  async remove(name: string, signal: AbortSignal): Promise<boolean> {
    const { folder, me } = this.place;
    const aside = join(folder, `.new-${me.name}.${randomUUID()}`);
    const isGone = await rename(join(folder, name), aside).then(
      () => true,
      () => false,
    );
    if (isGone) await deleteFolder(aside, signal);
    return isGone;
  }

  #nameOf(key: string): string {
    const { patterns, by } = this.place;
    const all = JSON.stringify([key, patterns, by === 'link']);
    return createHash('sha256').update(all).digest('hex').slice(0, 16);
  }

  #read(name: string): Stored | null {
    try {
      return JSON.parse(readFileSync(join(this.place.folder, name, NOTE), 'utf8')) as Stored;
    } catch {
      return null;
    }
  }

  #usedAt(name: string): number {
    const note = join(this.place.folder, name, NOTE);
    return statSync(note, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }

  async #copyAll(
    paths: readonly string[],
    { from, to }: { readonly from: string; readonly to: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    await mkdir(to, { recursive: true });
    const isStoring = to.startsWith(this.place.folder);
    const wish = isStoring && this.place.by === 'link' ? 'auto' : this.place.by;
    const way = await wayBetween(from, to, wish);
    for (const path of paths.map(withoutSlash)) {
      const copy = { from: join(from, path), to: join(to, path) };
      if (!(await copyTree(copy, way, signal))) return false;
    }
    return true;
  }

  async #evict(signal: AbortSignal): Promise<void> {
    const { most, disk } = this.place;
    let bytes = 0;
    for (const [nth, seed] of this.list().entries()) {
      bytes += seed.bytes;
      if (nth >= most || (disk !== null && bytes > disk)) await this.remove(seed.name, signal);
    }
  }

  #sweepOnce(signal: AbortSignal): Promise<void> {
    this.#swept ??= this.#sweep(signal);
    return this.#swept;
  }

  /** Throws away what processes that are dead left half. */
  async #sweep(signal: AbortSignal): Promise<void> {
    const { folder, temp, me } = this.place;
    for (const [place, prefix] of [
      [folder, '.new-'],
      [temp, '.seed-'],
    ] as const) {
      for (const name of namesIn(place).filter((each) => each.startsWith(prefix))) {
        const owner = name.slice(prefix.length).replace(/\..*$/, '');
        const path = join(place, name);
        if (owner === me.name || me.isAlive(owner, () => folderTouchedAt(path))) continue;
        await deleteFolder(path, signal).catch(() => undefined);
      }
    }
  }
}

/** Why what a set-up made cannot be a seed; null where it can. */
function refusal({ keyed, loose, made }: Setup): string | null {
  if (!keyed) return 'workspace.setup_key names no files';
  if (loose) return 'set-up changes files that git does not ignore';
  return made.length === 0 ? 'set-up makes no ignored files' : null;
}

/** Renames each path; what was in its place goes aside. */
async function moveAll(
  paths: readonly string[],
  { from, to, old }: { readonly from: string; readonly to: string; readonly old: string },
): Promise<void> {
  await mkdir(old, { recursive: true });
  for (const [nth, path] of paths.map(withoutSlash).entries()) {
    const place = join(to, path);
    if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) {
      await rename(place, join(old, `${nth}`));
    }
    await rename(join(from, path), place);
  }
}

/** Whether the folder of a path is there, with no link on the way that could lead elsewhere. */
function isReached(dir: string, path: string): boolean {
  const parts = dirname(withoutSlash(path)).split('/');
  return parts.every((_, index) => {
    const folder = join(dir, ...parts.slice(0, index + 1));
    return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  });
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}

/** What would change if anybody wrote to a file below a folder; null where nobody can tell. */
async function printOf(folder: string, signal: AbortSignal): Promise<string | null> {
  const args = ['.', '-type', 'f', '-printf', '%P %s %T@\\0'];
  const found = await ask({ file: 'find', args, cwd: folder }, signal);
  if (found === null) return null;
  const lines = found.split('\0').sort();
  return createHash('sha256').update(lines.join('\0')).digest('hex');
}

async function forbidWriting(folder: string, signal: AbortSignal): Promise<void> {
  const args = ['.', '-type', 'f', '-exec', 'chmod', 'a-w', '{}', '+'];
  await ask({ file: 'find', args, cwd: folder }, signal);
}

async function ask(
  command: { readonly file: string; readonly args: readonly string[]; readonly cwd: string },
  signal: AbortSignal,
): Promise<string | null> {
  const whole = { ...command, env: process.env, stdin: '', limitMs: FIND_LIMIT_MS };
  const { exit, stdout } = await capture(whole, signal);
  if (exit.kind === 'aborted' && signal.aborted) throw exit.reason;
  return exit.kind === 'exited' && exit.code === 0 ? stdout : null;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** When somebody last did something to a folder that is being filled. */
function folderTouchedAt(path: string): number {
  const names = existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : [];
  const times = [path, ...names].map((each) => lstatSync(each, { throwIfNoEntry: false })?.mtimeMs);
  return Math.max(...times.map((time) => time ?? 0));
}

/**
 * seeds: results of set-up, stored once and copied into every new workspace with the same key.
 *
 *     <state>/seeds/<name>/seed.json       its record; mtime is the last use
 *     <state>/seeds/<name>/files/…         files and folders, as in the workspace
 *     <state>/seeds/.new-<owner>…          a seed that a process is storing
 *     <pool>/.seed-<owner>…                a copy on its way into a workspace
 *
 * A seed is taken right after a successful set-up, before anything else uses the workspace. It
 * appears whole, by a rename, and so does a copy of it. Workspaces get files of their own, so no
 * write reaches a seed; with hard links the files are read-only instead, and a seed that has
 * changed is deleted. A seed that fails in any way costs time only: set-up runs instead.
 */

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { otherwise, rethrowBug, trySystem } from '../../base/errors.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { parseJson } from '../../base/parse-json.ts';
import { deleteFolder } from '../../git/file-system.ts';
import { ignoredMatching } from '../../git/untracked.ts';
import { diskUse, namesIn } from '../disk.ts';
import { isReachable } from '../plain-file.ts';
import type { ClaimOwner } from '../pool/claim-owner.ts';
import { forgetSetup, isCovered, noteSetup, type Setup } from '../setup.ts';
import { copyTree, type WayWish, wayBetween } from './copy-tree.ts';
import { filesNaming, relocate, search } from './relocate.ts';

export interface SeedsPlace {
  readonly folder: string;
  readonly temp: string;
  /** What is kept, in git's ignore syntax; empty for no seeds. */
  readonly patterns: readonly string[];
  readonly by: WayWish;
  readonly most: number;
  /** Most bytes for all of them; null for no limit. */
  readonly disk: number | null;
  readonly me: ClaimOwner;
}

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
  /** Files that contain the path of the workspace. */
  readonly naming: readonly string[];
  /** A digest of sizes and times of all files; null where the system cannot list them. */
  readonly print: string | null;
}

const NOTE = 'seed.json';
const FILES = 'files';
const FIND_LIMIT_MS = 10 * 60_000;

export class Seeds {
  readonly place: SeedsPlace;
  readonly #making = new Map<string, Promise<unknown>>();
  /** Whether files can be cloned between two disks, by their device numbers. */
  readonly #reflinks = new Map<string, boolean>();
  #swept: Promise<void> | null = null;

  constructor(place: SeedsPlace) {
    this.place = place;
  }

  /** Runs work that may store a seed of the key; `wait` waits for it. */
  async announce<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#making.has(key)) return work();
    const made = work();
    this.#making.set(key, made);
    return made.finally(() => this.#making.delete(key));
  }

  /** Waits for work in this process that may store a seed of the key; false if there is none. */
  async wait(key: string, signal: AbortSignal): Promise<boolean> {
    const made = this.#making.get(key);
    if (made === undefined) return false;
    const stop = new AbortController();
    const aborted = new Promise<void>((resolve) => {
      const options = { once: true, signal: stop.signal };
      signal.addEventListener('abort', () => resolve(), options);
    });
    await Promise.race([made.catch(otherwise(null)), aborted]);
    stop.abort();
    signal.throwIfAborted();
    return true;
  }

  /** Copies the seed of a key into a workspace; false where there is none. */
  async copyInto(dir: string, key: string, signal: AbortSignal): Promise<boolean> {
    this.#swept ??= this.#sweep(signal);
    await this.#swept;
    const name = this.#nameOf(key);
    const stored = this.#read(name);
    const isReady = (path: string): boolean =>
      isReachable(dir, path) && existsSync(dirname(join(dir, path)));
    if (stored === null || !stored.paths.map(withoutSlash).every(isReady)) return false;
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
      forgetSetup(dir);
      const { naming: files, setup } = stored;
      await relocate(join(temp, 'new'), { files, from: setup.at, to: dir }, signal);
      signal.throwIfAborted();
      await moveAll(stored.paths, { from: join(temp, 'new'), to: dir, old: join(temp, 'old') });
      await noteSetup(dir, setup, signal);
      const now = new Date();
      await utimes(join(this.place.folder, name, NOTE), now, now).catch(otherwise(undefined));
      return true;
    } catch (error) {
      rethrowBug(error);
      if (signal.aborted) throw error;
      return false;
    } finally {
      await deleteFolder(temp, AbortSignal.timeout(FIND_LIMIT_MS)).catch(otherwise(undefined));
    }
  }

  /** Stores the results of a set-up; returns why that is impossible, or null. */
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
      makeFolders(to);
      // The workspace keeps its own files: only copies of a seed are hard links.
      const isCopied = await this.#copyAll(paths, { from: dir, to }, signal);
      const naming = isCopied ? await filesNaming(to, { paths, name: dir }, signal) : null;
      if (naming === null) return 'it could not be copied';
      if (by === 'link') await forbidWriting(to, signal);
      const [bytes, print] = [await diskUse(to, paths, signal), await printOf(to, signal)];
      if (by === 'link' && print === null) return 'this system cannot tell whether it is changed';
      const stored: Stored = { setup, paths, naming, bytes, print, at: Date.now() };
      await writeFile(join(temp, NOTE), JSON.stringify(stored));
      await rename(temp, join(folder, name)).catch(otherwise(undefined)); // Another process was faster.
    } catch (error) {
      rethrowBug(error);
      if (signal.aborted) throw error;
      return 'it could not be copied';
    } finally {
      await deleteFolder(temp, AbortSignal.timeout(FIND_LIMIT_MS)).catch(otherwise(undefined));
    }
    await this.#evict(signal);
    return existsSync(join(folder, name)) ? null : 'it is larger than workspace.seed_disk';
  }

  /** Most recently used first. */
  list(): readonly Seed[] {
    return namesIn(this.place.folder)
      .filter((name) => !name.startsWith('.'))
      .flatMap((name) => {
        const stored = this.#read(name);
        if (stored === null) return [];
        const { paths, bytes, at } = stored;
        const note = statSync(join(this.place.folder, name, NOTE), { throwIfNoEntry: false });
        return [{ name, paths, bytes, at, usedAt: note?.mtimeMs ?? 0 }];
      })
      .sort((a, b) => b.usedAt - a.usedAt);
  }

  /** Deletes the least recently used to free space; returns where it was. */
  async shed(signal: AbortSignal): Promise<string | null> {
    const last = this.list().at(-1);
    if (last === undefined || !(await this.remove(last.name, signal))) return null;
    return join(this.place.folder, last.name);
  }

  async drain(signal: AbortSignal): Promise<number> {
    await this.#sweep(signal);
    let removed = 0;
    for (const name of namesIn(this.place.folder).filter((each) => !each.startsWith('.'))) {
      if (await this.remove(name, signal)) removed += 1;
    }
    return removed;
  }

  /** A copy that is under way fails, and its workspace runs set-up instead. */
  async remove(name: string, signal: AbortSignal): Promise<boolean> {
    const { folder, me } = this.place;
    const aside = join(folder, `.new-${me.name}.${randomUUID()}`);
    const isGone = await rename(join(folder, name), aside).then(() => true, otherwise(false));
    if (isGone) await deleteFolder(aside, signal);
    return isGone;
  }

  #nameOf(key: string): string {
    const { patterns, by } = this.place;
    const all = JSON.stringify([key, patterns, by === 'link']);
    return createHash('sha256').update(all).digest('hex').slice(0, 16);
  }

  #read(name: string): Stored | null {
    const note = join(this.place.folder, name, NOTE);
    const text = trySystem(() => readFileSync(note, 'utf8'), null);
    return text === null ? null : parseJson<Stored>(text);
  }

  async #copyAll(
    paths: readonly string[],
    { from, to }: { readonly from: string; readonly to: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    makeFolders(to);
    const isStoring = to.startsWith(this.place.folder);
    const wish = isStoring && this.place.by === 'link' ? 'auto' : this.place.by;
    const way = await wayBetween(from, to, { wish, reflinks: this.#reflinks });
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

  /** Deletes partial seeds of dead processes. */
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
        await deleteFolder(path, signal).catch(otherwise(undefined));
      }
    }
  }
}

function refusal({ keyed, loose, made }: Setup): string | null {
  if (!keyed) return 'workspace.setup_key names no files';
  if (loose) return 'set-up changes files that git does not ignore';
  return made.length === 0 ? 'set-up makes no ignored files' : null;
}

/** Moves each path into place; what was there is moved to `old`. */
async function moveAll(
  paths: readonly string[],
  { from, to, old }: { readonly from: string; readonly to: string; readonly old: string },
): Promise<void> {
  makeFolders(old);
  for (const [nth, path] of paths.map(withoutSlash).entries()) {
    const place = join(to, path);
    if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) {
      await rename(place, join(old, `${nth}`));
    }
    await rename(join(from, path), place);
  }
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}

/** A digest that any write below the folder changes; null where the system cannot list it. */
async function printOf(folder: string, signal: AbortSignal): Promise<string | null> {
  const args = ['.', '-type', 'f', '-printf', '%P %s %T@\\0'];
  const found = await search({ file: 'find', args, cwd: folder }, signal);
  if (found === null) return null;
  const lines = found.split('\0').sort();
  return createHash('sha256').update(lines.join('\0')).digest('hex');
}

async function forbidWriting(folder: string, signal: AbortSignal): Promise<void> {
  const args = ['.', '-type', 'f', '-exec', 'chmod', 'a-w', '{}', '+'];
  await search({ file: 'find', args, cwd: folder }, signal);
}

/** Last activity in a folder that is being filled. */
function folderTouchedAt(path: string): number {
  const names = namesIn(path).map((name) => join(path, name));
  const times = [path, ...names].map((each) => lstatSync(each, { throwIfNoEntry: false })?.mtimeMs);
  return Math.max(...times.map((time) => time ?? 0));
}

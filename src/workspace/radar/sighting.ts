/**
 * What one live workspace has changed since its base, kept up to date at little cost.
 *
 *   S1. Nothing of the agent's is touched: its index and files are only read. Snapshots go through
 *       an index of our own, beside the notes about the worktree.
 *   S2. A path counts as changed when its content differs from the base, committed or not; ignored
 *       files do not count. Between whole comparisons only touched paths are looked at.
 *   S3. While git itself works in the workspace (`index.lock`) nobody looks: half a checkout is not
 *       what anybody meant.
 *
 * Objects that snapshots write are reachable from nothing; git's own housekeeping removes them.
 */

import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { hashFiles } from '../../git/blobs.ts';
import { changedFiles, type Difference, filesBelow, ignoredOf } from '../../git/diff.ts';
import type { TreeEntry } from '../../git/edit-tree.ts';
import { git, type Sha } from '../../git/git.ts';
import { isIndexBusy } from '../../git/locks.ts';
import { headOf, isAncestor } from '../../git/refs.ts';
import { coneOf } from '../../git/sparse.ts';
import { isMerging } from '../../git/unfinished.ts';
import { notesDirOf } from '../../git/worktree-notes.ts';
import { snapshotCommit } from '../keep.ts';
import { TreeWatch } from './tree-watch.ts';
import { unseenOf } from './unseen.ts';

/** Larger files are not read: when they were touched they have changed. */
const LARGEST_BYTES = 8 * 1024 * 1024;

/** The files of a commit; computed once for all workspaces that start from it. */
export type FilesOfBase = (base: Sha) => Promise<ReadonlyMap<string, Sha>>;

export interface Seen {
  readonly how: Difference;
  /** The content: an id, or what else tells it from others; empty where it is gone. */
  readonly id: string;
}

export class Sighting {
  readonly dir: string;
  readonly base: Sha;
  readonly #isRework: boolean;
  readonly #filesOfBase: FilesOfBase;
  readonly #seen = new Map<string, Seen>();
  /** Paths that the private index does not hold as they are now. */
  readonly #stale = new Set<string>();
  /** What differs and is not on the disk, because its folder is not checked out. */
  readonly #unseen = new Map<string, TreeEntry>();
  #watch: TreeWatch | null = null;
  #commit: Sha | null = null;
  #index: string | null = null;

  constructor(
    place: { readonly dir: string; readonly base: Sha; readonly isRework: boolean },
    filesOfBase: FilesOfBase,
  ) {
    this.dir = place.dir;
    this.base = place.base;
    this.#isRework = place.isRework;
    this.#filesOfBase = filesOfBase;
  }

  /** What differs from the base. */
  get seen(): ReadonlyMap<string, Seen> {
    return this.#seen;
  }

  close(): void {
    this.#watch?.close();
    this.#watch = null;
  }

  /** The next look begins anew, with a new index. */
  restart(): void {
    this.close();
    this.#seen.clear();
    this.#commit = null;
    this.#index = null;
  }

  /** Looks at what was touched, or at everything; answers whether anything is different now. */
  async look(whole: boolean, signal: AbortSignal): Promise<boolean> {
    if (isIndexBusy(this.dir)) return false;
    const base = await this.#filesOfBase(this.base);
    if (this.#watch === null) {
      if (!(await this.#isLaidOut(signal))) return false;
      this.#watch = new TreeWatch(this.dir);
      this.#watch.follow(base.keys());
      await this.#lookAtAll(base, signal);
      return true;
    }
    const touched = this.#watch.take();
    if (whole || this.#watch.isBlind) return this.#lookAtAll(base, signal);
    if (coneOf(this.dir) !== null && touched.length > 0) {
      const isDifferent = await this.#lookAtAll(base, signal); // Only git knows what is left out.
      const folders = touched.filter((path) => this.#stat(path)?.isDirectory() === true);
      await this.#enterNew(folders, [...base.keys(), ...this.#seen.keys()], signal);
      return isDifferent;
    }
    return touched.length === 0 ? false : this.#lookAt(base, touched, signal);
  }

  /** Before that the folder may still hold what another task left. */
  async #isLaidOut(signal: AbortSignal): Promise<boolean> {
    const head = await headOf(this.dir, signal);
    if (head === this.base || (this.#isRework && isMerging(this.dir))) return true;
    return head !== null && isAncestor(this.dir, this.base, head, signal);
  }

  async #lookAtAll(base: ReadonlyMap<string, Sha>, signal: AbortSignal): Promise<boolean> {
    const files = new Set(await changedFiles(this.dir, this.base, signal));
    this.#watch?.follow(files);
    const undone = [...this.#seen.keys()].filter((path) => !files.has(path));
    for (const path of undone) this.#note(path, null);
    const isDifferent = await this.#compare(base, files, signal);
    return isDifferent || undone.length > 0;
  }

  async #lookAt(
    base: ReadonlyMap<string, Sha>,
    touched: readonly string[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const known = touched.filter((path) => base.has(path) || this.#seen.has(path));
    const rest = touched.filter((path) => !base.has(path) && !this.#seen.has(path));
    const folders = rest.filter((path) => this.#stat(path)?.isDirectory() === true);
    const gone = rest.filter((path) => this.#stat(path) === null);
    for (const folder of [...folders, ...gone]) this.#watch?.forget(folder);
    const there = rest.filter((path) => !gone.includes(path));
    const found = await filesBelow(this.dir, there, signal);
    this.#watch?.follow(found);
    await this.#enterNew(folders, found, signal);
    const changed = [...folders, ...gone];
    const below = changed.length === 0 ? () => false : isBelowOneOf(changed);
    const lost = [...base.keys(), ...this.#seen.keys()].filter(below);
    this.#watch?.follow(lost.filter((path) => this.#stat(path) !== null));
    return this.#compare(base, new Set([...known, ...found, ...lost]), signal);
  }

  /** A folder that holds nothing yet may soon, unless git ignores it. */
  async #enterNew(
    folders: readonly string[],
    found: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const isFilled = (folder: string) => found.some((file) => file.startsWith(`${folder}/`));
    const empty = folders.filter((folder) => !isFilled(folder));
    const ignored = await ignoredOf(this.dir, empty, signal);
    for (const folder of empty) if (!ignored.has(folder)) this.#watch?.enter(folder);
  }

  async #compare(
    base: ReadonlyMap<string, Sha>,
    paths: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const now = await this.#idsOf([...paths], signal);
    let isDifferent = false;
    for (const path of paths) {
      const id = now.get(path) ?? '';
      const before = base.get(path) ?? '';
      const how = id === '' ? 'deleted' : before === '' ? 'added' : 'changed';
      if ((this.#seen.get(path)?.id ?? before) === id) continue;
      isDifferent = true;
      this.#note(path, id === before ? null : { how, id });
    }
    return isDifferent;
  }

  /** Null for a path that is as in the base. */
  #note(path: string, seen: Seen | null): void {
    this.#commit = null;
    this.#stale.add(path);
    if (seen === null) this.#seen.delete(path);
    else this.#seen.set(path, seen);
  }

  async #idsOf(
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>> {
    const ids = new Map<string, string>();
    const read: string[] = [];
    for (const path of paths) {
      const stat = this.#stat(path);
      if (stat === null || stat.isDirectory()) continue;
      const isPlain = stat.isFile() && stat.size <= LARGEST_BYTES && !path.includes('\n');
      if (isPlain) read.push(path);
      else if (stat.isSymbolicLink()) ids.set(path, this.#idOfLink(path));
      else ids.set(path, `${stat.size} ${stat.mtimeMs}`);
    }
    const missing = coneOf(this.dir) === null ? [] : paths.filter((path) => !this.#stat(path));
    const unseen = await unseenOf(this.dir, missing, signal);
    for (const path of paths) this.#unseen.delete(path);
    for (const [path, entry] of unseen) {
      this.#unseen.set(path, entry);
      ids.set(path, entry.object);
    }
    const hashes = await hashFiles(this.dir, read, signal);
    for (const [at, path] of read.entries()) ids.set(path, hashes[at] ?? '');
    return ids;
  }

  /** What a link holds is the path it names. */
  #idOfLink(path: string): string {
    const target = readlinkSync(join(this.dir, path), 'buffer');
    const hash = createHash(this.base.length === 40 ? 'sha1' : 'sha256');
    return hash.update(`blob ${target.length}\0`).update(target).digest('hex');
  }

  #stat(path: string): Stats | null {
    return lstatSync(join(this.dir, path), { throwIfNoEntry: false }) ?? null;
  }

  #ownIndex(): string {
    const folder = notesDirOf(this.dir);
    assert(folder !== null, `${this.dir} is a linked worktree`);
    mkdirSync(folder, { recursive: true });
    return join(folder, 'radar-index');
  }

  /** A commit of what is seen, on the base; made only when somebody needs it. */
  async commit(signal: AbortSignal): Promise<Sha> {
    if (this.#commit !== null) return this.#commit;
    const isNew = this.#index === null;
    this.#index ??= this.#ownIndex();
    const env = { GIT_INDEX_FILE: this.#index };
    const options = { env, config: { 'core.fsync': 'none' } };
    if (isNew) await git(this.dir, ['read-tree', this.base], signal, options);
    const paths = isNew ? [...this.#seen.keys()] : [...this.#stale];
    const there = paths.filter((path) => !this.#unseen.has(path));
    const stdin = there.map((path) => `${path}\0`).join('');
    const add = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
    if (there.length > 0) await git(this.dir, add, signal, { ...options, stdin });
    const lines = [...this.#unseen].filter(([path]) => paths.includes(path));
    const info = lines.map(([path, { mode, object }]) => `${mode} ${object}\t${path}\0`).join('');
    const put = ['update-index', '--replace', '-z', '--index-info'];
    if (info !== '') await git(this.dir, put, signal, { ...options, stdin: info });
    this.#stale.clear();
    const tree = (await git(this.dir, ['write-tree'], signal, options)).stdout.trim();
    const seen = { tree, head: this.base, message: 'Seen by the radar' };
    this.#commit = await snapshotCommit(this.dir, seen, signal);
    return this.#commit;
  }
}

function isBelowOneOf(folders: readonly string[]): (path: string) => boolean {
  return (path) => folders.some((folder) => path.startsWith(`${folder}/`));
}

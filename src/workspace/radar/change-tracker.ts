/**
 * change-tracker: what one live workspace has changed since its base, kept up to date cheaply. The
 * agent's index and files are only read: snapshots use an index of their own, and write objects
 * that `git gc` removes. A path counts as changed if its content differs from the base, committed
 * or not; ignored files do not count. Between full comparisons only touched paths are examined.
 */

import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { changedFiles, type Difference, filesBelow, ignoredOf } from '../../git/diff.ts';
import { git, joinNul, type Sha, splitNul } from '../../git/git.ts';
import { isIndexBusy } from '../../git/locks.ts';
import { headOf, isAncestor } from '../../git/refs.ts';
import { coneOf } from '../../git/sparse.ts';
import { isMerging } from '../../git/status.ts';
import { hashFiles, type TreeEntry } from '../../git/trees.ts';
import { notesDirOf } from '../../git/worktree-notes.ts';
import { snapshotCommit } from '../keep.ts';
import { TreeWatch } from './tree-watch.ts';

/** Larger files are not read: a touched one counts as changed. */
const LARGEST_BYTES = 8 * 1024 * 1024;

/** The files of a commit; computed once for all workspaces that start from it. */
export type BaseFiles = (base: Sha) => Promise<ReadonlyMap<string, Sha>>;

interface ChangedFile {
  readonly how: Difference;
  /** Identifies the content; empty where the file is gone. */
  readonly id: string;
}

export class ChangeTracker {
  readonly dir: string;
  readonly base: Sha;
  readonly #isRework: boolean;
  readonly #baseFiles: BaseFiles;
  readonly #seen = new Map<string, ChangedFile>();
  /** Paths that the private index does not hold as they are now. */
  readonly #stale = new Set<string>();
  /** Changed files outside of a sparse checkout, which are in the index only. */
  readonly #indexOnly = new Map<string, TreeEntry>();
  #watch: TreeWatch | null = null;
  #commit: Sha | null = null;
  #index: string | null = null;

  constructor(
    place: { readonly dir: string; readonly base: Sha; readonly isRework: boolean },
    baseFiles: BaseFiles,
  ) {
    this.dir = place.dir;
    this.base = place.base;
    this.#isRework = place.isRework;
    this.#baseFiles = baseFiles;
  }

  get seen(): ReadonlyMap<string, ChangedFile> {
    return this.#seen;
  }

  close(): void {
    this.#watch?.close();
    this.#watch = null;
  }

  restart(): void {
    this.close();
    this.#seen.clear();
    this.#commit = null;
    this.#index = null;
  }

  /** Examines the touched paths, or all; returns whether anything changed. */
  async look(whole: boolean, signal: AbortSignal): Promise<boolean> {
    if (isIndexBusy(this.dir)) return false; // A half-done checkout is no work.
    const base = await this.#baseFiles(this.base);
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
      const isDifferent = await this.#lookAtAll(base, signal); // Only git knows what is not checked out.
      const folders = touched.filter((path) => this.#stat(path)?.isDirectory() === true);
      await this.#enterNew(folders, [...base.keys(), ...this.#seen.keys()], signal);
      return isDifferent;
    }
    return touched.length === 0 ? false : this.#lookAt(base, touched, signal);
  }

  /** Until the checkout is complete, the folder may hold files of another task. */
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
    const isBelow = (path: string) => changed.some((folder) => path.startsWith(`${folder}/`));
    const lost = changed.length === 0 ? [] : [...base.keys(), ...this.#seen.keys()].filter(isBelow);
    this.#watch?.follow(lost.filter((path) => this.#stat(path) !== null));
    return this.#compare(base, new Set([...known, ...found, ...lost]), signal);
  }

  /** An empty folder may get files later, unless git ignores it. */
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
  #note(path: string, seen: ChangedFile | null): void {
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
    const indexOnly = await indexOnlyEntries(this.dir, missing, signal);
    for (const path of paths) this.#indexOnly.delete(path);
    for (const [path, entry] of indexOnly) {
      this.#indexOnly.set(path, entry);
      ids.set(path, entry.object);
    }
    const hashes = await hashFiles(this.dir, read, signal);
    for (const [at, path] of read.entries()) ids.set(path, hashes[at] ?? '');
    return ids;
  }

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
    makeFolders(folder);
    return join(folder, 'radar-index');
  }

  /** A commit of the changes, on the base; made on demand. */
  async commit(signal: AbortSignal): Promise<Sha> {
    if (this.#commit !== null) return this.#commit;
    const isNew = this.#index === null;
    this.#index ??= this.#ownIndex();
    const env = { GIT_INDEX_FILE: this.#index };
    const options = { env, config: { 'core.fsync': 'none' } };
    if (isNew) await git(this.dir, ['read-tree', this.base], signal, options);
    const paths = isNew ? [...this.#seen.keys()] : [...this.#stale];
    const there = paths.filter((path) => !this.#indexOnly.has(path));
    const stdin = joinNul(there);
    const add = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
    if (there.length > 0) await git(this.dir, add, signal, { ...options, stdin });
    const lines = [...this.#indexOnly].filter(([path]) => paths.includes(path));
    const info = joinNul(lines.map(([path, { mode, object }]) => `${mode} ${object}\t${path}`));
    const put = ['update-index', '--replace', '-z', '--index-info'];
    if (info !== '') await git(this.dir, put, signal, { ...options, stdin: info });
    this.#stale.clear();
    const tree = (await git(this.dir, ['write-tree'], signal, options)).stdout.trim();
    const seen = { tree, head: this.base, message: 'Seen by the radar' };
    this.#commit = await snapshotCommit(this.dir, seen, signal);
    return this.#commit;
  }
}

/** More do not fit into a command line. */
const MOST_NAMED = 500;

/** The index entries of those paths that a sparse checkout leaves out. */
async function indexOnlyEntries(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TreeEntry>> {
  if (paths.length === 0) return new Map();
  const named = paths.length > MOST_NAMED ? [] : paths;
  const args = ['ls-files', '-t', '--stage', '-z', '--', ...named];
  const env = { GIT_LITERAL_PATHSPECS: '1' };
  const lines = splitNul((await git(dir, args, signal, { env })).stdout);
  const wanted = new Set(paths);
  const found = new Map<string, TreeEntry>();
  for (const line of lines) {
    const [, mode = '', object = '', path = ''] = /^S (\d+) (\w+) 0\t(.*)$/s.exec(line) ?? [];
    if (wanted.has(path)) found.set(path, { mode, object });
  }
  return found;
}

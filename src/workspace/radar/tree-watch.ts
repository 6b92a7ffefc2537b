/**
 * tree-watch: the paths of a workspace that may have changed since the last call, as the kernel
 * reports. Only folders with files that git would take are watched: a folder of packages has more
 * folders than a machine has watches. Reports are hints; where some may be missing (`isBlind`), the
 * caller compares all.
 */

import { type FSWatcher, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSystemError } from '../../base/errors.ts';
import { namesIn } from '../disk.ts';

/** Beyond this a workspace is compared as a whole instead. */
const MOST_FOLDERS = 4_096;

export class TreeWatch {
  readonly #root: string;
  readonly #watchers = new Map<string, FSWatcher>();
  #touched = new Set<string>();
  #isBlind = false;

  constructor(root: string) {
    this.#root = root;
  }

  get isBlind(): boolean {
    return this.#isBlind;
  }

  /** Watches the folders of these files, from the root down; a folder that is new is read once. */
  follow(files: Iterable<string>): void {
    this.#add('');
    const tried = new Set<string>(); // One that is not there is not tried for each of its files.
    for (const file of files) {
      for (let dir = dirname(file); dir !== '.'; dir = dirname(dir)) {
        if (this.#watchers.has(dir) || tried.has(dir)) break;
        tried.add(dir);
        this.#add(dir);
      }
    }
  }

  /** Watches one folder; what is in it already counts as touched. */
  enter(dir: string): void {
    if (this.#watchers.has(dir)) return;
    this.#add(dir);
    for (const name of namesIn(join(this.#root, dir))) this.#touched.add(pathIn(dir, name));
  }

  take(): readonly string[] {
    const touched = this.#touched;
    this.#touched = new Set();
    return [...touched];
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #add(dir: string): void {
    if (this.#isBlind || this.#watchers.has(dir)) return;
    if (this.#watchers.size >= MOST_FOLDERS) return this.#giveUp();
    try {
      const path = join(this.#root, dir);
      const watcher = watch(path, { persistent: false }, (_, name) => {
        if (name === null) this.#touched.add(dir);
        else if (dir !== '' || name !== '.git') this.#touched.add(pathIn(dir, name));
      });
      watcher.on('error', () => this.#drop(dir));
      this.#watchers.set(dir, watcher);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      // Gone meanwhile: its parent tells. Anything else is a limit of the machine.
      if (!isSystemError(error, 'ENOENT', 'ENOTDIR')) this.#giveUp();
    }
  }

  /** The watch of a folder that is gone; one of the same name would be another folder. */
  forget(dir: string): void {
    for (const each of this.#watchers.keys()) {
      if (each === dir || each.startsWith(`${dir}/`)) this.#drop(each);
    }
  }

  #drop(dir: string): void {
    this.#watchers.get(dir)?.close();
    this.#watchers.delete(dir);
  }

  #giveUp(): void {
    this.close();
    this.#isBlind = true;
  }
}

function pathIn(dir: string, name: string): string {
  return dir === '' ? name : `${dir}/${name}`;
}

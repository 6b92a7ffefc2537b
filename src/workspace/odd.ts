/**
 * odd: what in a workspace is not as in a new checkout, found by looking at every file.
 *
 *   O1. Nothing is opened and no link is followed; names are bytes (kept as latin1).
 *   O2. However many files there are, our event loop is given back every few milliseconds.
 *   O3. A folder that cannot be entered makes the look incomplete; it is never taken for empty.
 *   O4. Where there are many files, `find` looks at them: in another process, and in a quarter of
 *       the time. Where it cannot tell all, we look ourselves.
 */

import { lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytePath } from '../git/byte-path.ts';
import { runTool } from '../git/git.ts';
import { globOf } from '../git/scrub.ts';

export interface Modes {
  readonly file: number;
  readonly program: number;
  readonly folder: number;
}

export interface Look {
  readonly dir: string;
  /** Paths that are not looked at, nor what is in them. */
  readonly keep: readonly string[];
  readonly modes: Modes;
  /** Says which files belong there, by name. */
  readonly belongs: (name: string) => boolean;
}

export interface Found {
  /**
   * What has another mode than in a new checkout, is of another kind, or has another name, too; and
   * the git folders of repositories inside, which git never touches in a folder that it holds.
   */
  readonly odd: readonly Odd[];
  /** Whether there is a file that does not belong there, or an empty folder. */
  readonly hasMore: boolean;
  readonly isComplete: boolean;
}

export interface Odd {
  readonly path: string | Buffer;
  readonly kind: 'file' | 'folder' | 'repository';
}

const PERMISSIONS = 0o7777;
const SET_GROUP = 0o2000;
const TURN_MS = 10;
const MANY_FILES = 2_000;

/** What git would give new files and folders in a workspace. */
export function modesIn(dir: string): Modes {
  const allowed = ~process.umask();
  const inherited = statSync(dirname(dir)).mode & SET_GROUP;
  return {
    file: 0o666 & allowed,
    program: 0o777 & allowed,
    folder: (0o777 & allowed) | inherited,
  };
}

/** Looks at everything in a workspace; `files` is how many there are about. */
export async function lookThrough(look: Look, files: number, signal: AbortSignal): Promise<Found> {
  const found = files < MANY_FILES ? null : await lookByFind(look, signal);
  return found ?? lookByWalk(look, signal);
}

/** The same, by ourselves. */
export async function lookByWalk(look: Look, signal: AbortSignal): Promise<Found> {
  const sorter = new Sorter(look);
  const { dir } = look;
  let begun = performance.now();
  const waiting = [''];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (performance.now() - begun > TURN_MS) {
      await nextTurn();
      signal.throwIfAborted();
      begun = performance.now();
    }
    const place = bytePath(dir, folder);
    const names = namesIn(place);
    if (names === null) sorter.isComplete = false;
    if (names?.length === 0) sorter.hasMore = true;
    const own = lstatSync(place, { throwIfNoEntry: false });
    if (own !== undefined) sorter.folder(folder, own.mode);
    for (const name of names ?? []) {
      const below = folder === '' ? name : `${folder}/${name}`;
      if (sorter.skips(below)) continue;
      if (name === '.git') {
        sorter.repository(below);
        continue;
      }
      const stat = lstatSync(bytePath(dir, below), { throwIfNoEntry: false });
      if (stat?.isDirectory() === true) waiting.push(below);
      else if (stat !== undefined) sorter.file(below, kindOf(stat), stat);
    }
  }
  return sorter;
}

/** The same, by `find`; null where it is none that we know, or a name is no text. */
export async function lookByFind(look: Look, signal: AbortSignal): Promise<Found | null> {
  if (process.platform !== 'linux') return null;
  const skipped = ['.git', ...look.keep].map((path) => `./${globOf(path)}`);
  const skip = skipped.flatMap((path, nth) => [...(nth === 0 ? [] : ['-o']), '-path', path]);
  const print = ['-printf', '%y %m %n %P\\0'];
  const repositories = ['-name', '.git', '-prune', ...print];
  const args = ['.', '(', ...skip, ')', '-prune', '-o', ...repositories, '-o', ...print];
  const { exit, stdout } = await runTool('find', args, signal, look.dir);
  if (exit.kind === 'aborted') throw exit.reason;
  if (exit.kind !== 'exited' || exit.code !== 0 || stdout.includes('\uFFFD')) return null;
  const sorter = new Sorter(look);
  const full = new Set<string>();
  const folders: string[] = [];
  for (const line of stdout.split('\0').slice(0, -1)) {
    const [, kind = '', mode = '', links = '', path = ''] = LINE.exec(line) ?? [];
    const name = latin1(path);
    full.add(name.slice(0, Math.max(0, name.lastIndexOf('/'))));
    const stat = { mode: Number.parseInt(mode, 8), nlink: Number(links) };
    if (name === '.git' || name.endsWith('/.git')) sorter.repository(name);
    else if (kind !== 'd') sorter.file(name, kind === 'l' ? 'link' : kind, stat);
    else {
      sorter.folder(name, stat.mode);
      if (name !== '') folders.push(name);
    }
  }
  sorter.hasMore ||= folders.some((name) => !full.has(name) && !sorter.holdsSkipped(name));
  return sorter;
}

const LINE = /^(.) (\d+) (\d+) (.*)$/s;

/** Tells what is odd from what is not. */
class Sorter implements Found {
  readonly odd: Odd[] = [];
  hasMore = false;
  isComplete = true;
  readonly #look: Look;
  readonly #skip: ReadonlySet<string>;

  constructor(look: Look) {
    this.#look = look;
    this.#skip = new Set(['.git', ...look.keep].map(latin1));
  }

  skips(name: string): boolean {
    return this.#skip.has(name);
  }

  /** Whether a folder is not empty only because of what is skipped. */
  holdsSkipped(folder: string): boolean {
    return [...this.#skip].some((name) => name.startsWith(`${folder}/`));
  }

  folder(name: string, mode: number): void {
    const { dir, modes } = this.#look;
    if ((mode & PERMISSIONS) === modes.folder) return;
    this.odd.push({ path: bytePath(dir, name), kind: 'folder' });
  }

  repository(name: string): void {
    this.odd.push({ path: bytePath(this.#look.dir, name), kind: 'repository' });
  }

  file(name: string, kind: string, stat: Pick<Stats, 'mode' | 'nlink'>): void {
    const { dir, modes, belongs } = this.#look;
    const mode = stat.mode & PERMISSIONS;
    const isPlain = kind === 'f' && (mode === modes.file || mode === modes.program);
    const isOdd = kind !== 'link' && (!isPlain || stat.nlink > 1);
    if (isOdd) this.odd.push({ path: bytePath(dir, name), kind: 'file' });
    this.hasMore ||= !belongs(name);
  }
}

function kindOf(stat: Stats): string {
  if (stat.isSymbolicLink()) return 'link';
  return stat.isFile() ? 'f' : 'other';
}

function namesIn(path: string | Buffer): readonly string[] | null {
  try {
    return readdirSync(path, 'latin1');
  } catch {
    return null;
  }
}

function latin1(path: string): string {
  return Buffer.from(path.replace(/\/$/, '')).toString('latin1');
}

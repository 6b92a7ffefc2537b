/**
 * odd: what in a workspace is not as in a new checkout, found by looking at every file.
 *
 *   O1. Nothing is opened and no link is followed; names are bytes (kept as latin1).
 *   O2. However many files there are, our event loop is given back every few milliseconds.
 *   O3. A folder that cannot be entered makes the look incomplete; it is never taken for empty.
 *   O4. Where there are many files, `find` looks at them: in another process, and in a quarter of
 *       the time. Where it cannot tell all, we look ourselves.
 *   O5. That there is nothing more is known by counting: whoever asks knows what surely is there.
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
  /** How many files belong there, all of which are there; null where nobody knows. */
  readonly files: number | null;
}

export interface Found {
  /**
   * What has another mode than in a new checkout, is of another kind, or has another name, too; and
   * the git folders of repositories inside, which git never touches in a folder that it holds.
   */
  readonly odd: readonly Odd[];
  /** Whether there are other files than those that belong there, or an empty folder. */
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

/** Whether a plain file is as git makes them, and has no other name. */
export function isUsualFile(
  { mode, nlink }: Pick<Stats, 'mode' | 'nlink'>,
  { file, program }: Modes,
): boolean {
  return nlink === 1 && [file, program].includes(mode & PERMISSIONS);
}

/** Whether a folder is as git makes them. */
export function isUsualFolder(mode: number, { folder }: Modes): boolean {
  return (mode & PERMISSIONS) === folder;
}

/** Looks at everything in a workspace. */
export async function lookThrough(look: Look, signal: AbortSignal): Promise<Found> {
  const isSmall = look.files !== null && look.files < MANY_FILES;
  const found = isSmall ? null : await lookByFind(look, signal);
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
    if (names?.length === 0) sorter.hasEmpty = true;
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
  const sorter = new Sorter(look);
  const { exit, stdout } = await runTool('find', expressionOf(look), signal, look.dir);
  if (exit.kind === 'aborted') throw exit.reason;
  if (exit.kind !== 'exited' || exit.code !== 0 || stdout.includes('\uFFFD')) return null;
  const plain = stdout.replace(RECORD, (_, kind: string, mode: string, path: string) => {
    const name = latin1(path);
    const stat = { mode: Number.parseInt(mode, 8), nlink: 2 };
    if (kind === 'r') sorter.repository(name);
    else if (kind === 'd') sorter.folder(name, stat.mode);
    else sorter.file(name, 'odd', stat);
    return '';
  });
  sorter.hasEmpty = plain.includes('e');
  sorter.count += plain.length;
  return sorter;
}

/** A dot for each file that is as it should be, an `e` for an empty folder, a record for the odd. */
const RECORD = /\x01([rdf]) (\d+) ([^\0]*)\0/g;

function expressionOf({ keep, modes }: Look): readonly string[] {
  const either = (tests: readonly (readonly string[])[]): readonly string[] => [
    '(',
    ...tests.flatMap((test, nth) => (nth === 0 ? test : ['-o', ...test])),
    ')',
  ];
  const told = (kind: string): readonly string[] => ['-printf', `\\001${kind} %m %P\\0`];
  const hasMode = (mode: number): readonly string[] => ['-perm', `0${mode.toString(8)}`];
  const skipped = ['.git', ...keep].map((path) => ['-path', `./${globOf(path)}`]);
  const isPlain = ['-links', '1', ...either([hasMode(modes.file), hasMode(modes.program)])];
  const cases = [
    [...either(skipped), '-prune'],
    ['-name', '.git', '-prune', ...told('r')],
    ['-type', 'd', '-empty', '-printf', 'e'],
    ['-type', 'd', '!', ...hasMode(modes.folder), ...told('d')],
    ['-type', 'd'],
    ['-type', 'l', '-printf', '.'],
    ['-type', 'f', ...isPlain, '-printf', '.'],
    told('f'),
  ];
  return ['.', ...either(cases)];
}

/** Tells what is odd from what is not. */
class Sorter implements Found {
  readonly odd: Odd[] = [];
  isComplete = true;
  hasEmpty = false;
  /** How many files there are. */
  count = 0;
  readonly #look: Look;
  readonly #skip: ReadonlySet<string>;

  constructor(look: Look) {
    this.#look = look;
    this.#skip = new Set(['.git', ...look.keep].map(latin1));
  }

  get hasMore(): boolean {
    return this.hasEmpty || this.count !== this.#look.files;
  }

  skips(name: string): boolean {
    return this.#skip.has(name);
  }

  folder(name: string, mode: number): void {
    const { dir, modes } = this.#look;
    if (isUsualFolder(mode, modes)) return;
    this.odd.push({ path: bytePath(dir, name), kind: 'folder' });
  }

  repository(name: string): void {
    this.odd.push({ path: bytePath(this.#look.dir, name), kind: 'repository' });
  }

  file(name: string, kind: string, stat: Pick<Stats, 'mode' | 'nlink'>): void {
    const { dir, modes } = this.#look;
    const isOdd = kind !== 'link' && !(kind === 'f' && isUsualFile(stat, modes));
    if (isOdd) this.odd.push({ path: bytePath(dir, name), kind: 'file' });
    this.count += 1;
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

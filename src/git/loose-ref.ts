/**
 * Moving a branch as git moves it in a plain repository: a lock, a file, a line in its log. That
 * costs a few files; asking a process for it costs two changes of process and their answers.
 *
 *   L1. It is a compare-and-swap: under the lock that every git takes, the branch is where it is
 *       said to be, in its file or among the packed ones. It is on the disk before it counts.
 *   L2. Only what git would do alike is done: branches with ordinary names that are files, no hook
 *       that wants to know, no setting that says otherwise. Any other is left to git
 *       (ref-writer.ts), and so is whatever does not go as expected.
 *   L3. The lock is held within one turn of the event loop: its content is on the disk before there
 *       is a lock. One that a killed engine left is found like one of a killed git.
 */

import {
  appendFileSync,
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { begunIn } from './begun.ts';
import { likelyText } from './git-dir.ts';
import { mayHaveHook } from './hooks.ts';
import { identitiesIn } from './identity.ts';
import { writesPlainly } from './loose-object.ts';
import { zonedTime } from './quick-commit.ts';
import { areRefsInFiles, packedRefs } from './ref-files.ts';
import { quickMove, type RefMove } from './ref-writer.ts';
import { isOn, type Settings, settingsIn } from './settings.ts';

/** Moves a ref by compare-and-swap; null says nothing: ask again in the ordinary way. */
export async function moveRef(
  commonDir: string,
  move: RefMove,
  signal: AbortSignal,
): Promise<true | null> {
  return (await makeRef(commonDir, move, signal)) ?? quickMove(commonDir, move.ref, move);
}

/** The same for a ref that is not moved again and again: no process stays for it. */
export async function makeRef(
  commonDir: string,
  move: RefMove,
  signal: AbortSignal,
): Promise<true | null> {
  const logged = await logLine(commonDir, move, signal);
  return logged !== null && moveFile(commonDir, move, logged) ? true : null;
}

/** Settings under which git does more, or other things. */
const ODD = /^(?:core\.(?:ignorecase|fsync.*|prefersymlinkrefs)|extensions\..*)$/;
/** Stricter than git: nothing that could mean something else. */
const ORDINARY = /^refs\/heads(?:\/(?!.*\.lock$)[\w-](?:[\w-]|\.(?!\.|\/|$)|\/(?=[\w-]))*)$/;

/** What goes into the branch's log, '' for nothing; null where git has to move it. */
async function logLine(
  commonDir: string,
  { ref, to, from }: RefMove,
  signal: AbortSignal,
): Promise<string | null> {
  if (!ORDINARY.test(ref) || ref.includes('.lock/')) return null;
  if (!(await writesPlainly(commonDir, signal)) || !areRefsInFiles(commonDir)) return null;
  const settings = await settingsIn(commonDir, signal);
  if ([...settings.keys()].some((name) => ODD.test(name) && isSet(settings, name))) return null;
  if (await mayHaveHook(commonDir, 'reference-transaction', signal)) return null;
  if (likelyText(`${commonDir}/HEAD`) === `ref: ${ref}\n`) return null; // HEAD has a log, too.
  if (!isLogged(settings)) return '';
  const who = await identitiesIn(commonDir, signal);
  return who === null ? null : `${from} ${to} ${who.committer} ${zonedTime(new Date())}\n`;
}

function isSet(settings: Settings, name: string): boolean {
  return name === 'core.ignorecase' ? isOn(settings, name) : true;
}

/** Branches are, unless somebody said no or the repository is bare. */
function isLogged(settings: Settings): boolean {
  const name = 'core.logallrefupdates';
  if (settings.get(name) === 'always') return true;
  return settings.has(name) ? isOn(settings, name) : !isOn(settings, 'core.bare');
}

function moveFile(commonDir: string, move: RefMove, logged: string): boolean {
  const content = begunIn(commonDir);
  const fd = openSync(content, 'wx', 0o666);
  try {
    // As the journal: what counts is on the disk before anything else happens.
    writeFileSync(fd, `${move.to}\n`);
    fsyncSync(fd);
    move.assertHeld?.();
    return swap(commonDir, move, { content, logged, inode: fstatSync(fd).ino });
  } finally {
    closeSync(fd);
    unlinkSync(content);
  }
}

interface Prepared {
  /** The file that becomes the branch; as long as there is a lock this is its other name. */
  readonly content: string;
  readonly inode: number;
  readonly logged: string;
}

/** Under the lock; false where it is held by somebody else, or anything is not as expected. */
function swap(commonDir: string, move: RefMove, { content, logged, inode }: Prepared): boolean {
  const path = `${commonDir}/${move.ref}`;
  const lock = `${path}.lock`;
  if (!isLinked(content, lock)) return false;
  try {
    if (isAt(commonDir, path, move)) {
      if (logged !== '') writeLog(`${commonDir}/logs/${move.ref}`, logged);
      const isOurs = lstatSync(lock).ino === inode; // Nobody took it for one of the dead.
      if (isOurs) renameSync(lock, path);
      return isOurs;
    }
  } catch {
    // Something else is there than files and folders: git will say what.
  }
  rmSync(lock, { force: true });
  return false;
}

function isLinked(from: string, to: string): boolean {
  for (const isSecond of [false, true]) {
    try {
      if (isSecond) mkdirSync(dirname(to), { recursive: true });
      linkSync(from, to);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return false;
    }
  }
  return false;
}

/** Whether the branch is where it is said to be; where it is to be new, nothing is in its way. */
function isAt(commonDir: string, path: string, { ref, from }: RefMove): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat !== undefined) return stat.isFile() && likelyText(path) === `${from}\n`;
  const packed = packedRefs(commonDir);
  if (!/^0+$/.test(from)) return packed.includes(`\n${from} ${ref}\n`);
  const parts = ref.split('/');
  const above = parts.slice(3).map((_, nth) => parts.slice(0, nth + 3).join('/'));
  const inTheWay = [` ${ref}\n`, ` ${ref}/`, ...above.map((name) => ` ${name}\n`)];
  return !inTheWay.some((text) => packed.includes(text));
}

function writeLog(path: string, line: string): void {
  try {
    appendFileSync(path, line);
  } catch {
    mkdirSync(dirname(path), { recursive: true }); // The first log of its folder.
    appendFileSync(path, line);
  }
}

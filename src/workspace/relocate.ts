/**
 * relocate: files that name the folder they were made in, made to name the one they are in now.
 *
 * The scripts and the `activate` of a Python environment, an editable install, links with absolute
 * targets: in another workspace they would lead to the one that they came from, which is gone or,
 * worse, another task's.
 *
 *   R1. Texts and links are changed; what is no text (programs, byte code) names folders only for
 *       people to read and is left. Modes and times stay: tools compare them.
 *   R2. A file is replaced, never written to: it may have another name elsewhere.
 *   R3. Where it cannot be said which files do, nothing is changed and the answer is null.
 */

import { lstatSync } from 'node:fs';
import {
  chmod,
  lutimes,
  readFile,
  readlink,
  rename,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { splitNul } from '../git/git.ts';
import { capture } from '../process/capture.ts';

const LIMIT_MS = 10 * 60_000;

/** Paths below `dir`, in these of its files and folders, that name the folder `name`. */
export async function filesNaming(
  dir: string,
  { paths, name }: { readonly paths: readonly string[]; readonly name: string },
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  if (paths.length === 0) return [];
  const places = paths.map((path) => `./${path}`);
  const texts = await ask(dir, 'grep', ['-rlIFZ', '-e', name, '--', ...places], signal);
  const pattern = `${name.replace(/[\\*?[\]]/g, '\\$&')}*`;
  const tests = ['-type', 'l', '-lname', pattern, '-print0'];
  const links = await ask(dir, 'find', [...places, ...tests], signal);
  if (texts === null || links === null) return null;
  return [...texts, ...links].map((path) => path.replace(/^\.\//, ''));
}

/** Makes these files name the folder `to` instead of `from`. */
export async function relocate(
  dir: string,
  move: { readonly files: readonly string[]; readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<void> {
  const change = (text: string): string => renamed(text, move.from, move.to);
  // As single bytes: not every text is UTF-8.
  const changeBytes = (text: string): string => renamed(text, bytes(move.from), bytes(move.to));
  for (const file of move.files) {
    signal.throwIfAborted();
    const path = join(dir, file);
    const before = lstatSync(path, { throwIfNoEntry: false });
    const next = `${path}.landfast-next`;
    if (before?.isSymbolicLink() === true) {
      await symlink(change(await readlink(path)), next);
      await lutimes(next, before.atime, before.mtime);
    } else if (before?.isFile() === true) {
      await writeFile(next, changeBytes(await readFile(path, 'latin1')), 'latin1');
      await chmod(next, before.mode);
      await utimes(next, before.atime, before.mtime);
    } else continue;
    await rename(next, path);
  }
}

/** The text with the name of a folder replaced, but not where it is the beginning of another. */
function renamed(text: string, from: string, to: string): string {
  const escaped = from.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replace(new RegExp(`${escaped}(?![\\w.-])`, 'g'), () => to);
}

/** A text as if each of its bytes were a letter. */
function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The paths that a search found; null where it could not look at everything. */
async function ask(
  cwd: string,
  file: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const command = { file, args, cwd, env: process.env, stdin: '', limitMs: LIMIT_MS };
  const { exit, stdout } = await capture(command, signal);
  if (exit.kind === 'aborted' && signal.aborted) throw exit.reason;
  const isAnswer =
    exit.kind === 'exited' && (exit.code === 0 || (file === 'grep' && exit.code === 1));
  return isAnswer ? splitNul(stdout) : null;
}

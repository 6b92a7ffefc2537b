/**
 * relocate: rewrites files that contain the path of the workspace they were made in: the scripts of
 * a Python environment, an editable install, links with absolute targets. In another workspace they
 * would lead to the original one, which is gone or another task's. Binary files mention paths for
 * people only, and stay as they are. Modes and times are preserved: tools compare them. A file is
 * replaced, never written in place: it may have other hard links.
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
import { environment } from '../../base/runtime.ts';
import { splitNul } from '../../git/git.ts';
import { capture } from '../../process/capture.ts';

const LIMIT_MS = 10 * 60_000;

/** Paths below these that name the folder `name`, relative to `dir`; null where the search fails. */
export async function filesNaming(
  dir: string,
  { paths, name }: { readonly paths: readonly string[]; readonly name: string },
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  if (paths.length === 0) return [];
  const places = paths.map((path) => `./${path}`);
  const grep = { file: 'grep', args: ['-rlIFZ', '-e', name, '--', ...places], cwd: dir };
  const texts = await search(grep, signal, [0, 1]);
  const pattern = `${name.replace(/[\\*?[\]]/g, '\\$&')}*`;
  const tests = ['-type', 'l', '-lname', pattern, '-print0'];
  const links = await search({ file: 'find', args: [...places, ...tests], cwd: dir }, signal);
  if (texts === null || links === null) return null;
  return splitNul(texts + links).map((path) => path.replace(/^\.\//, ''));
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

/** The output of a search; null where it could not read everything. */
export async function search(
  command: { readonly file: string; readonly args: readonly string[]; readonly cwd: string },
  signal: AbortSignal,
  okCodes: readonly number[] = [0],
): Promise<string | null> {
  const whole = { ...command, env: environment(), stdin: '', limitMs: LIMIT_MS };
  const { exit, stdout } = await capture(whole, signal);
  if (exit.kind === 'aborted' && signal.aborted) throw exit.reason;
  return exit.kind === 'exited' && okCodes.includes(exit.code) ? stdout : null;
}

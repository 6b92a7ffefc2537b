/**
 * rewrite: files are as a checkout has them, also where git holds them otherwise.
 *
 *   R1. A filter, or a rule for line ends, takes something out of a file as it is staged. To git
 *       the file is then unchanged; whoever reads it next would see what was taken out. So every
 *       file that was touched is written again.
 *   R2. What would be written depends on attributes: where a task has changed these, all of its
 *       files may have to be, and the workspace is not used again.
 */

import { existsSync, unlinkSync } from 'node:fs';
import { isSetBack, type Moment } from '../base/moment.ts';
import { bytePath } from '../git/byte-path.ts';
import { isNameChanged } from '../git/diff.ts';
import { git, LONG_LIMIT_MS } from '../git/git.ts';
import { gitFolderOf } from '../git/git-dir.ts';
import { nameAt } from '../git/index-edit.ts';
import { indexEntries, MODE_AT, readForNow } from '../git/index-file.ts';
import { isThereFromStart, settingsIn, userFile } from '../git/settings.ts';
import type { Sha } from '../model/plan.ts';
import { youngestAt } from './glance.ts';

/** A workspace as it was when its task got it. */
export interface Begun {
  readonly commit: Sha;
  readonly at: Moment;
}

export const ATTRIBUTES = '.gitattributes';
const SHA_BYTES = 20;
/** A file system's clock may be behind ours by a tick. */
const TICK_MS = 20;
const KIND = 0o170000;
const FILE = 0o100000;

const SETTINGS = ['core.autocrlf', 'core.eol', 'core.attributesfile'];

/** Whether something says that files of a workspace are not written as git holds them. */
export async function mayConvert(
  commonDir: string,
  dir: string,
  signal: AbortSignal,
): Promise<boolean> {
  const index = readForNow(`${gitFolderOf(dir)}/index`);
  if (index?.includes(ATTRIBUTES, 0, 'latin1') ?? existsSync(`${dir}/${ATTRIBUTES}`)) return true;
  if (existsSync(`${commonDir}/info/attributes`)) return true;
  if (isThereFromStart(userFile('attributes')) || isThereFromStart('/etc/gitattributes'))
    return true;
  const settings = await settingsIn(commonDir, signal);
  return SETTINGS.some((name) => settings.has(name));
}

/** Writes every file again that was touched since; false where nobody can tell which. */
export async function rewriteTouched(
  dir: string,
  { begun, commit }: { readonly begun: Begun | undefined; readonly commit: Sha },
  signal: AbortSignal,
): Promise<boolean> {
  if (begun === undefined || isSetBack(begun.at)) return false;
  if (await isNameChanged(dir, begun.commit, commit, ATTRIBUTES, signal)) return false;
  const names = touchedSince(dir, begun.at.at - TICK_MS);
  if (names === null) return false;
  if (names.length === 0) return true;
  const bytes = Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1');
  const stdin = bytes.toString();
  if (stdin.includes('\ufffd')) return false; // That is no text.
  for (const name of names) unlinkSync(bytePath(dir, name));
  const args = ['checkout-index', '--force', '--index', '-z', '--stdin'];
  const options = { stdin, limitMs: LONG_LIMIT_MS, okCodes: [0, 1, 128] }; // A filter may fail.
  return (await git(dir, args, signal, options)).code === 0;
}

/** The files whose noted ctime is not older, in bytes as latin1; null for an unusual index. */
function touchedSince(dir: string, sinceMs: number): readonly string[] | null {
  const index = readForNow(`${gitFolderOf(dir)}/index`);
  const entries = index === null ? null : indexEntries(index, SHA_BYTES);
  if (index === null || entries === null || entries.form !== 'plain') return null;
  const isFile = (start: number): boolean => (index.readUInt32BE(start + MODE_AT) & KIND) === FILE;
  const touched = entries.starts.filter(
    (start) => isFile(start) && youngestAt(index, start, true) >= sinceMs,
  );
  return [...touched].map((start) => nameAt(index, start));
}

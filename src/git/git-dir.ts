/**
 * What a working tree's own git folder says, read as files: no process is needed to know it. The
 * files are tiny; reading them at once costs a tenth of asking for them and waiting. Their paths
 * are put together as texts, here and beside: `join` would look at each letter, thousands of times.
 */

import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The git folder of a working tree: `.git`, or what the file `.git` of a linked one names. */
export async function gitDirOf(dir: string): Promise<string> {
  return gitFolderOf(dir);
}

/** The same, at once. */
export function gitFolderOf(dir: string): string {
  const known = folders.get(dir);
  if (known !== undefined) return known;
  const path = `${dir}/.git`;
  const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile() === true; // No pipe, say.
  const link = isFile ? likelyText(path) : null;
  const folder = link === null ? path : resolve(dir, link.replace(/^gitdir: /, '').trimEnd());
  if (folders.size === 0) setImmediate(forgetGitFolders);
  folders.set(dir, folder);
  return folder;
}

/** What was read in this turn of the event loop: it is asked for dozens of times in a row. */
const folders = new Map<string, string>();

/** For whoever moves, adds or removes a working tree. */
export function forgetGitFolders(): void {
  folders.clear();
}

/** Whether a folder is a working tree that git knows: linked both ways. */
export async function isWorkingTree(dir: string): Promise<boolean> {
  return existsSync(`${dir}/.git`) && existsSync(`${gitFolderOf(dir)}/HEAD`);
}

/** The full ref that HEAD is on; null when it is detached. */
export async function headRefOf(dir: string): Promise<string | null> {
  return refIn(likelyText(`${gitFolderOf(dir)}/HEAD`) ?? '');
}

/** The ref that a file HEAD names; null when it names a commit. */
export function refIn(head: string): string | null {
  return /^ref: (.+)\n?$/.exec(head)?.[1] ?? null;
}

/** A file in a working tree's own git folder; null where there is none. */
export async function readOwn(dir: string, name: string): Promise<string | null> {
  return ownText(dir, name);
}

/** The same, at once. */
export function ownText(dir: string, name: string): string | null {
  return textOf(`${gitFolderOf(dir)}/${name}`);
}

/** Writes one. */
export async function writeOwn(dir: string, name: string, text: string): Promise<void> {
  writeFileSync(`${gitFolderOf(dir)}/${name}`, text);
}

/** Removes files or folders there. */
export async function removeOwn(dir: string, names: readonly string[]): Promise<void> {
  const gitDir = gitFolderOf(dir);
  const there = names.map((name) => `${gitDir}/${name}`).filter((path) => existsSync(path));
  for (const path of there) rmSync(path, { recursive: true, force: true });
}

/** Where git believes that worktrees are directly below a folder, there or not. */
export function placesBelow(commonDir: string, folder: string): readonly string[] {
  const entries = `${commonDir}/worktrees`;
  const names = existsSync(entries) ? readdirSync(entries) : [];
  const told = names.map((name) => textOf(`${entries}/${name}/gitdir`) ?? '');
  return told.map((text) => dirname(text.trimEnd())).filter((path) => dirname(path) === folder);
}

/** Whether a merge waits to be concluded. */
export async function isMerging(dir: string): Promise<boolean> {
  return existsSync(`${gitFolderOf(dir)}/MERGE_HEAD`);
}

/** What a file holds; null where there is none: a look costs less than an error nobody sees. */
export function textOf(path: string): string | null {
  return existsSync(path) ? likelyText(path) : null;
}

/** The same for one that is mostly there: no look before. */
export function likelyText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** The same path without links on the way, also of what is not there. */
export function realOf(path: string): string {
  try {
    return existsSync(path)
      ? realpathSync(path)
      : join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

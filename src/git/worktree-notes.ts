/**
 * Notes about a linked worktree, in `<common dir>/landfast/worktrees/<entry>.<since>/<name>`: git's
 * name of the worktree and when git made it, so that a worktree of the user's that gets the same
 * name has no notes. A note lives as long as its worktree. Each is small and written whole, by a
 * rename.
 */

import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { makeFolders } from '../base/make-folders.ts';
import { linkedDirOf, textOf } from './git-dir.ts';

/** The folder of a worktree's notes; null for any other folder. */
export function notesDirOf(dir: string): string | null {
  const entry = linkedDirOf(dir);
  return entry === null ? null : notesOfEntry(entry);
}

export function notesOfEntry(entry: string): string {
  // Git writes this file once.
  const made =
    statSync(`${entry}/commondir`, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n;
  return `${dirname(dirname(entry))}/landfast/worktrees/${basename(entry)}.${made.toString(36)}`;
}

export function readNote(dir: string, name: string): string | null {
  const folder = notesDirOf(dir);
  return folder === null ? null : textOf(`${folder}/${name}`);
}

export function writeNote(dir: string, name: string, text: string): void {
  const folder = notesDirOf(dir);
  if (folder === null) return;
  makeFolders(folder);
  const next = `${folder}/${name}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, `${folder}/${name}`);
}

export function removeNote(dir: string, name: string): void {
  const folder = notesDirOf(dir);
  if (folder !== null) rmSync(`${folder}/${name}`, { force: true });
}

/** Removes the notes of worktrees that are gone. */
export function sweepNotes(commonDir: string): void {
  const folder = `${commonDir}/landfast/worktrees`;
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const entry = `${commonDir}/worktrees/${name.replace(/\.[^.]*$/, '')}`;
    if (existsSync(entry) && notesOfEntry(entry) === `${folder}/${name}`) continue;
    rmSync(`${folder}/${name}`, { recursive: true, force: true });
  }
}

export function forgetNotes(entry: string): void {
  rmSync(notesOfEntry(entry), { recursive: true, force: true });
}

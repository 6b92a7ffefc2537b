/**
 * What we write down about a linked worktree, below `landfast/` in the repository:
 *
 *     <common dir>/landfast/worktrees/<entry>.<since>/<name>
 *
 *     <entry>  as git calls the worktree
 *     <since>  when git made it
 *
 *   N1. A note says something about one worktree for as long as that is there, and goes before it
 *       does. One of the user's that gets the name of one of ours has no notes.
 *   N2. Notes are small; each is written whole, by a rename.
 */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { linkedDirOf, textOf } from './git-dir.ts';

/** The folder for what is noted about a worktree; null for a folder that is none. */
export function notesDirOf(dir: string): string | null {
  const entry = linkedDirOf(dir);
  return entry === null ? null : notesOfEntry(entry);
}

/** The same by the git folder of the worktree. */
export function notesOfEntry(entry: string): string {
  // Git writes this file once.
  const made =
    statSync(`${entry}/commondir`, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n;
  return `${dirname(dirname(entry))}/landfast/worktrees/${basename(entry)}.${made.toString(36)}`;
}

/** What a note says; null where there is none. */
export function readNote(dir: string, name: string): string | null {
  const folder = notesDirOf(dir);
  return folder === null ? null : textOf(`${folder}/${name}`);
}

/** Writes a note about a worktree. */
export function writeNote(dir: string, name: string, text: string): void {
  const folder = notesDirOf(dir);
  if (folder === null) return;
  mkdirSync(folder, { recursive: true });
  const next = `${folder}/${name}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, `${folder}/${name}`);
}

/** Forgets one note. */
export function removeNote(dir: string, name: string): void {
  const folder = notesDirOf(dir);
  if (folder !== null) rmSync(`${folder}/${name}`, { force: true });
}

/** Forgets what was noted about worktrees that are gone. */
export function sweepNotes(commonDir: string): void {
  const folder = `${commonDir}/landfast/worktrees`;
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const entry = `${commonDir}/worktrees/${name.replace(/\.[^.]*$/, '')}`;
    if (existsSync(entry) && notesOfEntry(entry) === `${folder}/${name}`) continue;
    rmSync(`${folder}/${name}`, { recursive: true, force: true });
  }
}

/** Forgets all that was noted about the worktree with this git folder. */
export function forgetNotes(entry: string): void {
  rmSync(notesOfEntry(entry), { recursive: true, force: true });
}

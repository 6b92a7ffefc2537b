/**
 * idle: worktrees that wait for a task. They lie where their last task was, or in the pool's folder
 * between two runs; what makes one idle is a note about it (git/worktree-notes.ts).
 *
 *     <common dir>/landfast/worktrees/<entry>/idle            waits
 *     <common dir>/landfast/worktrees/<entry>/taken-<who>     a process is handing it over
 *
 *   D1. One is taken by renaming its note, which only one process can do: no lock is needed, and
 *       none can be left behind. What a dead process has taken can be taken again.
 *   D2. The note is written once the worktree is restored, and deleted when a task has it: a
 *       worktree without one is in use, whatever it looks like.
 */

import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { linkedDirOf, textOf } from '../git/git-dir.ts';
import { entriesIn, isLinked, placeTold } from '../git/worktree-link.ts';
import { notesDirOf, notesOfEntry, removeNote, writeNote } from '../git/worktree-notes.ts';
import type { Sha } from '../model/plan.ts';
import type { Claimant } from './claimant.ts';

/** What is known of an idle worktree. */
export interface Idle {
  /** Where its HEAD is. */
  readonly commit: Sha;
  /** The run that left it. */
  readonly run: string;
  /** When it became idle: it was restored then. */
  readonly at: number;
  readonly files: number;
  readonly bytes: number;
  /** Somebody asked for it ahead of a run: it stays, however small the repository is. */
  readonly asked: boolean;
  /** Ignored files and folders that a plan keeps in it. */
  readonly kept: readonly string[];
}

export interface IdleWorktree {
  readonly entry: string;
  readonly path: string;
  readonly note: Idle;
  /** The name of the note, by which it is taken. */
  readonly name: string;
}

const IDLE = 'idle';
const TAKEN = 'taken-';

/** All worktrees of a repository that wait, those that became idle last first. */
export function idleIn(commonDir: string, me: Claimant): readonly IdleWorktree[] {
  const found = entriesIn(commonDir).flatMap((entry): readonly IdleWorktree[] => {
    const folder = notesOfEntry(entry);
    const name = noteIn(folder, me);
    if (name === null) return [];
    const [note, path] = [parsed(textOf(`${folder}/${name}`)), placeTold(entry)];
    return note === null || path === null ? [] : [{ entry, path, note, name }];
  });
  return found.sort((a, b) => b.note.at - a.note.at);
}

/** How it stands with a worktree that waits, and since when; null where it is in use. */
export function waitingState(
  dir: string,
  entry: string,
  me: Claimant,
): {
  readonly state: 'idle' | 'claimed' | 'broken' | 'gone';
  readonly since: number | null;
} | null {
  const folder = notesOfEntry(entry);
  if (!namesIn(folder).some(isIdleName)) return null;
  if (!existsSync(dir)) return { state: 'gone', since: null };
  const name = noteIn(folder, me);
  if (name === null) return { state: 'claimed', since: null };
  if (!isWhole(dirname(dirname(entry)), { path: dir })) return { state: 'broken', since: null };
  return { state: 'idle', since: parsed(textOf(`${folder}/${name}`))?.at ?? null };
}

/** Takes an idle worktree, unless another process was faster; a broken one is ours to remove. */
export function takeIdle(
  commonDir: string,
  one: IdleWorktree,
  me: Claimant,
): 'taken' | 'broken' | 'lost' {
  const folder = notesOfEntry(one.entry);
  const taken = `${folder}/${TAKEN}${me.name}`;
  try {
    renameSync(`${folder}/${one.name}`, taken);
    if (parsed(textOf(taken))?.at !== one.note.at) {
      renameSync(taken, `${folder}/${IDLE}`); // Used by another task since we looked.
      return 'lost';
    }
  } catch {
    return 'lost';
  }
  return isWhole(commonDir, one) ? 'taken' : 'broken';
}

/** Whether an idle worktree is still where git knows it, and linked to that. */
export function isWhole(commonDir: string, { path }: Pick<IdleWorktree, 'path'>): boolean {
  return existsSync(path) && isLinked(commonDir, path);
}

/** Whether a worktree is idle, or just being taken. */
export function isWaiting(dir: string): boolean {
  const folder = notesDirOf(dir);
  return folder !== null && namesIn(folder).some(isIdleName);
}

function isIdleName(name: string): boolean {
  return name === IDLE || name.startsWith(TAKEN);
}

/** Notes that a worktree is idle from now on; null for a folder that is none. */
export function noteIdle(dir: string, note: Idle): IdleWorktree | null {
  const entry = linkedDirOf(dir);
  if (entry === null) return null;
  writeNote(dir, IDLE, JSON.stringify(note));
  return { entry, path: dir, note, name: IDLE };
}

/** Forgets that a worktree was idle: a task has it now. */
export function forgetIdle(dir: string, me: Claimant): void {
  for (const name of [IDLE, `${TAKEN}${me.name}`]) removeNote(dir, name);
}

/** The note of a worktree that waits, or that a dead process has taken. */
function noteIn(folder: string, me: Claimant): string | null {
  const names = namesIn(folder);
  if (names.includes(IDLE)) return IDLE;
  const dead = names.find((name) => name.startsWith(TAKEN) && !isHeld(folder, name, me));
  return dead ?? null;
}

function isHeld(folder: string, name: string, me: Claimant): boolean {
  const owner = name.slice(TAKEN.length);
  if (owner === me.name) return true;
  const touched = () => statSync(`${folder}/${name}`, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  return me.isAlive(owner, touched);
}

function parsed(text: string | null): Idle | null {
  try {
    return text === null ? null : (JSON.parse(text) as Idle);
  } catch {
    return null;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

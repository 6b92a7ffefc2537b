/**
 * idle-worktrees: worktrees that wait for a task, where their last task was or in the pool's
 * folder.
 *
 *     <common dir>/landfast/worktrees/<entry>/idle            waits
 *     <common dir>/landfast/worktrees/<entry>/taken-<owner>   a process is handing it over
 *
 * The note is written once the worktree is restored, and deleted when a task has it. Renaming it
 * claims the worktree, which only one process can do; claims of dead processes can be claimed
 * again.
 */

import { existsSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSystemError } from '../../base/errors.ts';
import { parseJson } from '../../base/parse-json.ts';
import { entriesIn, isLinked, linkedDirOf, placeTold, textOf } from '../../git/git-dir.ts';
import { notesDirOf, notesOfEntry, removeNote, writeNote } from '../../git/worktree-notes.ts';
import type { Sha } from '../../model/plan.ts';
import { namesIn } from '../disk.ts';
import type { ClaimOwner } from './claim-owner.ts';

export interface Idle {
  readonly commit: Sha;
  readonly run: string;
  /** When it was restored and became idle. */
  readonly at: number;
  readonly files: number;
  readonly bytes: number;
  /** Made by `pool warm`: it stays, however small the repository is. */
  readonly asked: boolean;
  /** Ignored files and folders that a plan keeps in it. */
  readonly kept: readonly string[];
}

export interface IdleWorktree {
  readonly entry: string;
  readonly path: string;
  readonly note: Idle;
  readonly name: string;
}

const IDLE = 'idle';
const TAKEN = 'taken-';

/** All idle worktrees of a repository, most recent first. */
export function idleIn(commonDir: string, me: ClaimOwner): readonly IdleWorktree[] {
  const found = entriesIn(commonDir).flatMap((entry): readonly IdleWorktree[] => {
    const folder = notesOfEntry(entry);
    const name = noteIn(folder, me);
    if (name === null) return [];
    const [note, path] = [parsed(textOf(`${folder}/${name}`)), placeTold(entry)];
    return note === null || path === null ? [] : [{ entry, path, note, name }];
  });
  return found.sort((a, b) => b.note.at - a.note.at);
}

/** The state of an idle worktree, and since when; null where it is in use. */
export function idleState(
  dir: string,
  entry: string,
  me: ClaimOwner,
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

/** Claims an idle worktree, unless another process was faster. A broken one is for the caller to remove. */
export function claimIdle(
  commonDir: string,
  one: IdleWorktree,
  me: ClaimOwner,
): 'taken' | 'broken' | 'lost' {
  const folder = notesOfEntry(one.entry);
  const taken = `${folder}/${TAKEN}${me.name}`;
  try {
    renameSync(`${folder}/${one.name}`, taken);
    if (parsed(textOf(taken))?.at !== one.note.at) {
      renameSync(taken, `${folder}/${IDLE}`); // Another task has used it since it was listed.
      return 'lost';
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return 'lost';
  }
  return isWhole(commonDir, one) ? 'taken' : 'broken';
}

export function isWhole(commonDir: string, { path }: Pick<IdleWorktree, 'path'>): boolean {
  return existsSync(path) && isLinked(commonDir, path);
}

export function isIdle(dir: string): boolean {
  const folder = notesDirOf(dir);
  return folder !== null && namesIn(folder).some(isIdleName);
}

function isIdleName(name: string): boolean {
  return name === IDLE || name.startsWith(TAKEN);
}

/** Marks a worktree as idle; null for a folder that is no worktree. */
export function noteIdle(dir: string, note: Idle): IdleWorktree | null {
  const entry = linkedDirOf(dir);
  if (entry === null) return null;
  writeNote(dir, IDLE, JSON.stringify(note));
  return { entry, path: dir, note, name: IDLE };
}

export function forgetIdle(dir: string, me: ClaimOwner): void {
  for (const name of [IDLE, `${TAKEN}${me.name}`]) removeNote(dir, name);
}

/** The note of a worktree that is idle, or claimed by a dead process. */
function noteIn(folder: string, me: ClaimOwner): string | null {
  const names = namesIn(folder);
  if (names.includes(IDLE)) return IDLE;
  const dead = names.find((name) => name.startsWith(TAKEN) && !isHeld(folder, name, me));
  return dead ?? null;
}

function isHeld(folder: string, name: string, me: ClaimOwner): boolean {
  const owner = name.slice(TAKEN.length);
  if (owner === me.name) return true;
  const touched = () => statSync(`${folder}/${name}`, { throwIfNoEntry: false })?.ctimeMs ?? 0;
  return me.isAlive(owner, touched);
}

function parsed(text: string | null): Idle | null {
  return text === null ? null : parseJson<Idle>(text);
}

/**
 * bring: what a new workspace needs that git does not hold: untracked files and set-up commands.
 *
 *   B1. Brought files are never committed: what git would see as new is excluded first.
 *   B2. Set-up that finished is not run again where it still holds (setup.ts); half a set-up is.
 *   B3. What is cleaned away between two uses spares only what set-up itself had made.
 */

import { existsSync } from 'node:fs';
import { constants, copyFile, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Suspension } from '../base/suspension.ts';
import { timed } from '../base/timing.ts';
import { removeUntracked } from '../git/clean.ts';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import { untrackedMatching } from '../git/untracked.ts';
import type { SetUp } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import { type CheckResult, check } from './check.ts';
import type { Ground } from './ground.ts';
import { isReached, trackedIn } from './inject.ts';
import { filesNaming, relocate } from './relocate.ts';
import {
  forgetSetup,
  isThere,
  noteSetup,
  rememberSetup,
  type Setup,
  setupIn,
  setupKey,
} from './setup.ts';

const SETUP_LIMIT_MS = 20 * 60_000;
/** A file of patterns, in git's ignore syntax, in the repository's root. */
const INCLUDE_FILE = '.worktreeinclude';

export type Brought =
  | { readonly kind: 'ready'; readonly setup: Prepared | null }
  | { readonly kind: 'failed'; readonly message: string; readonly output: string }
  | { readonly kind: 'stopped' };

/** How the results of set-up came to be there; nothing to tell where it was done before. */
export interface Prepared {
  readonly how: SetUp;
  readonly ms: number;
  /** Why what it made is no seed, although the plan wants one. */
  readonly why?: string;
}

export interface Placed {
  readonly dir: string;
  /** The task that it is for; null for a publication. */
  readonly of: TaskId | null;
  /** Stands for the key files where the plan names none. */
  readonly unkeyed: string;
  /** Somebody goes on in it: a set-up that is done is done, whatever he has changed since. */
  readonly goesOn: boolean;
  readonly mark: string;
  readonly suspension: Suspension | null;
}

/** Copies untracked files into a workspace and runs its set-up, unless that is done. */
export async function bring(ground: Ground, place: Placed, signal: AbortSignal): Promise<Brought> {
  const { exclude = [], setup } = ground.plan.workspace;
  if (exclude.length > 0) await addExcludes(ground.repository.commonDir, exclude, signal);
  const brought = await copyUntracked(ground, place.dir, signal);
  if (setup.length === 0) return { kind: 'ready', setup: null };
  const done = setupIn(place.dir);
  if (done !== null && place.goesOn) return { kind: 'ready', setup: null };
  const begin = performance.now();
  const key = await setupKey(ground, place, signal);
  if (done?.key === key && done.at === place.dir && isThere(place.dir, done)) {
    return { kind: 'ready', setup: null };
  }
  const isKept = done?.key === key && isThere(place.dir, done);
  const prepared =
    isKept && (await moveIn(place.dir, done, signal))
      ? ({ how: 'kept' } as const)
      : await prepare(ground, { ...place, key, brought }, signal);
  if ('kind' in prepared) return prepared;
  return { kind: 'ready', setup: { ...prepared, ms: Math.round(performance.now() - begin) } };
}

type NotReady = Exclude<Brought, { kind: 'ready' }>;
type ToPrepare = Placed & { readonly key: string; readonly brought: readonly string[] };

/** From a seed, which somebody may be about to make, or by its commands. */
async function prepare(
  ground: Ground,
  place: ToPrepare,
  signal: AbortSignal,
): Promise<Omit<Prepared, 'ms'> | NotReady> {
  const { seeds } = ground;
  if (seeds === undefined) return makeAll(ground, place, signal);
  const { dir, key, of } = place;
  const lay = (): Promise<boolean> =>
    timed({ kind: 'setup', of, name: 'seed' }, () => seeds.lay(dir, key, signal));
  if (await lay()) return { how: 'seeded' };
  if ((await seeds.wait(key, signal)) && (await lay())) return { how: 'seeded' };
  return seeds.while(key, () => makeAll(ground, place, signal));
}

async function makeAll(
  ground: Ground,
  place: ToPrepare,
  signal: AbortSignal,
): Promise<Omit<Prepared, 'ms'> | NotReady> {
  const span = { kind: 'setup', of: place.of, name: 'setup' };
  const broken = await timed(span, () => runSetup(ground, place, signal));
  if (broken !== null) return broken;
  const setup = await rememberSetup(ground, place, signal);
  const why = (await ground.seeds?.store(place.dir, setup, signal)) ?? null;
  return { how: 'ran', ...(why === null ? {} : { why }) };
}

/** Runs the commands; an answer only where they did not all pass. */
async function runSetup(
  ground: Ground,
  place: Placed,
  signal: AbortSignal,
): Promise<NotReady | null> {
  forgetSetup(place.dir);
  for (const command of ground.plan.workspace.setup) {
    const result: CheckResult = await check(
      { ...place, command, env: ground.env, timeoutMs: SETUP_LIMIT_MS },
      signal,
    );
    if (result.kind === 'stopped') return result;
    if (result.kind === 'failed') {
      const message = `The workspace's set-up command failed: ${command}`;
      return { kind: 'failed', message, output: result.output };
    }
  }
  return null;
}

/** What set-up made in another folder is made to name this one; false where nobody can tell. */
async function moveIn(dir: string, done: Setup, signal: AbortSignal): Promise<boolean> {
  const from = done.at;
  const files = await filesNaming(dir, { paths: done.made, name: from }, signal);
  if (files === null) return false;
  forgetSetup(dir); // Half of it must not count.
  await relocate(dir, { files, from, to: dir }, signal);
  await noteSetup(dir, done, signal);
  return true;
}

/** Removes whatever no commit holds, ignored files too; what set-up made may stay. */
export async function cleanWorkspace(dir: string, signal: AbortSignal): Promise<void> {
  await removeUntracked(dir, setupIn(dir)?.made ?? [], signal);
}

/** Answers with the files that came along. */
async function copyUntracked(
  ground: Ground,
  dir: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const from = ground.repository.dir;
  const patterns = await includePatterns(ground);
  if (patterns.length === 0) return [];
  const { files, unignored } = await untrackedMatching(from, patterns, signal);
  if (unignored.length > 0) {
    await addExcludes(ground.repository.commonDir, unignored.map(literalPattern), signal);
  }
  const held = await trackedIn(dir, files, signal);
  for (const file of files) {
    // What the commit holds, and what a link leads to, is not ours to write over.
    if (held.has(file) || !isReached(dir, file)) continue;
    await rm(join(dir, file), { force: true });
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await copyFile(join(from, file), join(dir, file), constants.COPYFILE_FICLONE);
  }
  return files;
}

/** What is copied from the user's checkout, in git's ignore syntax. */
export async function includePatterns(ground: Ground): Promise<readonly string[]> {
  const file = join(ground.repository.dir, INCLUDE_FILE);
  const text = existsSync(file) ? await readFile(file, 'utf8') : '';
  const named = text.split('\n').map((line) => line.trim());
  const listed = named.filter((line) => line !== '' && !line.startsWith('#'));
  return [...ground.plan.workspace.copy.map((path) => `/${path}`), ...listed];
}

/**
 * prepare: adds to a new workspace what git does not hold: untracked files, which are excluded so
 * that they are never committed, and the results of set-up, which runs only where they are missing
 * or invalid (setup.ts).
 */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Suspension } from '../base/suspension.ts';
import { timed } from '../base/timing.ts';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import { untrackedMatching } from '../git/untracked.ts';
import type { SetUp } from '../model/event.ts';
import type { TaskId } from '../model/plan.ts';
import { check } from './check.ts';
import { trackedIn } from './inject.ts';
import { copyOver, isReachable } from './plain-file.ts';
import type { RunContext } from './run-context.ts';
import { filesNaming, relocate } from './seeds/relocate.ts';
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

export type Preparation =
  | { readonly kind: 'ready'; readonly setup: SetupDone | null }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly command: string;
      readonly exitCode: number | null;
      readonly output: string;
    }
  | { readonly kind: 'stopped' };

export interface SetupDone {
  readonly how: SetUp;
  readonly ms: number;
  /** Why the results were not stored as a seed, although the plan wants one. */
  readonly why?: string;
}

export interface Placed {
  readonly dir: string;
  /** The task that it is for; null for a publication. */
  readonly of: TaskId | null;
  /** Replaces the key files where the plan names none. */
  readonly unkeyed: string;
  /** An earlier attempt is continued: a finished set-up counts, whatever changed since. */
  readonly goesOn: boolean;
  readonly mark: string;
  readonly suspension: Suspension | null;
  readonly onLine: (line: string) => void;
}

/** Copies untracked files into a workspace and runs its set-up, unless that is done. */
export async function prepareWorkspace(
  context: RunContext,
  place: Placed,
  signal: AbortSignal,
): Promise<Preparation> {
  const { exclude = [], setup } = context.plan.workspace;
  if (exclude.length > 0) await addExcludes(context.repository.commonDir, exclude, signal);
  const brought = await copyUntracked(context, place.dir, signal);
  if (setup.length === 0) return { kind: 'ready', setup: null };
  const done = setupIn(place.dir);
  if (done !== null && place.goesOn) return { kind: 'ready', setup: null };
  const begin = performance.now();
  const key = await setupKey(context, place, signal);
  const isKept = done?.key === key && isThere(place.dir, done);
  if (isKept && done.at === place.dir) return { kind: 'ready', setup: null };
  const prepared =
    isKept && (await relocateSetup(place.dir, done, signal))
      ? ({ how: 'kept' } as const)
      : await prepare(context, { ...place, key, brought }, signal);
  if ('kind' in prepared) return prepared;
  return { kind: 'ready', setup: { ...prepared, ms: Math.round(performance.now() - begin) } };
}

type NotReady = Exclude<Preparation, { kind: 'ready' }>;
type ToPrepare = Placed & { readonly key: string; readonly brought: readonly string[] };

/** From a seed, which another workspace may be about to store, or by its commands. */
async function prepare(
  context: RunContext,
  place: ToPrepare,
  signal: AbortSignal,
): Promise<Omit<SetupDone, 'ms'> | NotReady> {
  const { seeds } = context;
  if (seeds === undefined) return runAndStore(context, place, signal);
  const { dir, key, of } = place;
  const copySeed = (): Promise<boolean> =>
    timed({ kind: 'setup', of, name: 'seed' }, () => seeds.copyInto(dir, key, signal));
  if (await copySeed()) return { how: 'seeded' };
  if ((await seeds.wait(key, signal)) && (await copySeed())) return { how: 'seeded' };
  return seeds.announce(key, () => runAndStore(context, place, signal));
}

async function runAndStore(
  context: RunContext,
  place: ToPrepare,
  signal: AbortSignal,
): Promise<Omit<SetupDone, 'ms'> | NotReady> {
  const span = { kind: 'setup', of: place.of, name: 'setup' };
  const broken = await timed(span, () => runSetup(context, place, signal));
  if (broken !== null) return broken;
  const setup = await rememberSetup(context, place, signal);
  const why = (await context.seeds?.store(place.dir, setup, signal)) ?? null;
  return { how: 'ran', ...(why === null ? {} : { why }) };
}

/** Runs the commands; null where all of them pass. */
async function runSetup(
  context: RunContext,
  place: Placed,
  signal: AbortSignal,
): Promise<NotReady | null> {
  forgetSetup(place.dir);
  for (const command of context.plan.workspace.setup) {
    const what = { ...place, command, env: context.env, timeoutMs: SETUP_LIMIT_MS };
    const result = await check(what, signal);
    if (result.kind === 'stopped') return result;
    if (result.kind === 'failed') {
      const message = `The workspace's set-up command failed: ${command}`;
      const { exitCode, output } = result;
      return { kind: 'failed', message, command, exitCode, output };
    }
  }
  return null;
}

/** Rewrites results of set-up that contain the path of another folder; false where the search fails. */
async function relocateSetup(dir: string, done: Setup, signal: AbortSignal): Promise<boolean> {
  const from = done.at;
  const files = await filesNaming(dir, { paths: done.made, name: from }, signal);
  if (files === null) return false;
  forgetSetup(dir); // A partial rewrite must not count as done.
  await relocate(dir, { files, from, to: dir }, signal);
  await noteSetup(dir, done, signal);
  return true;
}

async function copyUntracked(
  context: RunContext,
  dir: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const from = context.repository.dir;
  const patterns = await includePatterns(context);
  if (patterns.length === 0) return [];
  const { files, unignored } = await untrackedMatching(from, patterns, signal);
  if (unignored.length > 0) {
    await addExcludes(context.repository.commonDir, unignored.map(literalPattern), signal);
  }
  const held = await trackedIn(dir, files, signal);
  for (const file of files) {
    // Tracked files, and files behind a link, are not overwritten.
    if (held.has(file) || !isReachable(dir, file)) continue;
    await copyOver(join(from, file), dir, file);
  }
  return files;
}

/** Patterns of files to copy from the user's checkout, in git's ignore syntax. */
export async function includePatterns(context: RunContext): Promise<readonly string[]> {
  const file = join(context.repository.dir, INCLUDE_FILE);
  const text = existsSync(file) ? await readFile(file, 'utf8') : '';
  const named = text.split('\n').map((line) => line.trim());
  const listed = named.filter((line) => line !== '' && !line.startsWith('#'));
  return [...context.plan.workspace.copy.map((path) => `/${path}`), ...listed];
}

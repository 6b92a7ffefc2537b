/**
 * setup: what is remembered of a workspace's set-up, and how long it holds.
 *
 *   S1. Only a set-up that finished is remembered. Before one begins nothing is, so that half of
 *       one never counts.
 *   S2. The key is all that it depends on: commands, environment, tools (`land.fingerprint`) and
 *       the key files as they lie in the workspace. Without key files it holds for one workspace.
 *   S3. It outlives its task only where everything that it made stays, the key files are still what
 *       they were, and it made nothing but ignored files: anything else was wiped away.
 */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../base/pause.ts';
import { leftoversIn } from '../git/diff.ts';
import { coneOf } from '../git/sparse.ts';
import { filesIn, ignoredIn } from '../git/untracked.ts';
import { readNote, removeNote, writeNote } from '../git/worktree-notes.ts';
import { inScope, isLiteral } from '../model/scope.ts';
import type { Ground } from './ground.ts';
import { toolsOf } from './tools.ts';
import { removeTouchedBelow } from './touched.ts';

/** The note that says what set-up was done in a workspace. */
const SETUP_DONE = 'setup';

/** A set-up that finished. */
export interface Setup {
  readonly key: string;
  /** Ignored files, and folders of nothing else (with a slash at the end), that it made. */
  readonly made: readonly string[];
  /** The folder that the workspace was in: what it made may name it. */
  readonly at: string;
  /** Whether its key says which files it depends on. */
  readonly keyed: boolean;
  /** It changed or made files that a commit would take: they go when the workspace is reset. */
  readonly loose: boolean;
  /** How many files it made, and when it was done (ms since 1970). */
  readonly files: number;
  readonly doneAt: number;
}

/** Variables that tell of a log-in, not of what set-up will make. */
const OF_A_SESSION = new RegExp(
  `^(?:${[
    ...['TMPDIR', 'SSH_(?:AUTH_SOCK|AGENT_PID|CLIENT|CONNECTION|TTY)', 'DBUS_SESSION_BUS_.*'],
    ...['XDG_(?:RUNTIME_DIR|SESSION_.*|SEAT.*|VTNR|CURRENT_DESKTOP)', 'WINDOWPATH'],
  ].join('|')})$`,
);

/** Whether a variable only describes a log-in session: no result depends on it. */
export function isOfSession(name: string): boolean {
  return OF_A_SESSION.test(name);
}

/** What the set-up of a workspace depends on; `unkeyed` stands for the key files if there are none. */
export async function setupKey(
  ground: Ground,
  { dir, unkeyed }: { readonly dir: string; readonly unkeyed: string },
  signal: AbortSignal,
): Promise<string> {
  const { setup, setupKey: names } = ground.plan.workspace;
  const env = Object.entries(ground.env)
    .filter(([name]) => !isOfSession(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const files = names.length === 0 ? unkeyed : await contentsOf(dir, names, signal);
  const tools = await toolsOf(ground, signal);
  const cone = coneOf(dir); // Set-up sees only the folders that are checked out.
  const { platform, arch } = process;
  return digest(JSON.stringify([setup, env, tools, platform, arch, files, cone]));
}

/** The set-up that is done in a workspace; null where none is, or half of one. */
export function setupIn(dir: string): Setup | null {
  const text = readNote(dir, SETUP_DONE);
  try {
    return text === null ? null : (JSON.parse(text) as Setup);
  } catch {
    return null; // The machine went down while it was written.
  }
}

/** Whether all that a set-up made is there. */
export function isThere(dir: string, { made }: Setup): boolean {
  return made.every((path) => existsSync(join(dir, path)));
}

/** From now on no set-up counts as done. */
export function forgetSetup(dir: string): void {
  removeNote(dir, SETUP_DONE);
}

/** Writes down that a set-up has finished; what was `brought` is not its work. */
export async function rememberSetup(
  ground: Ground,
  done: { readonly dir: string; readonly key: string; readonly brought: readonly string[] },
  signal: AbortSignal,
): Promise<Setup> {
  const { dir, key } = done;
  const { setupKey: names, inject } = ground.plan.workspace;
  const notMade = new Set([...done.brought, ...inject.map(({ to }) => `${to}/`)]);
  const made = (await ignoredIn(dir, signal)).filter((path) => !notMade.has(path));
  const loose = (await leftoversIn(dir, signal)) === 'work';
  const files = await countFiles(dir, made, signal);
  return noteSetup(dir, { key, made, keyed: names.length > 0, loose, files }, signal);
}

/** What the clock of a file system may be behind ours. */
const TICK_MS = 25;

/**
 * Takes back what somebody has done since to what a set-up made: new files go. Where others were
 * changed or are missing it does not count as done any more. Answers with what may stay.
 */
export async function keepSetup(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  const setup = setupIn(dir);
  if (setup === null) return [];
  const { made, files, doneAt } = setup;
  let left = 0;
  for (const path of isThere(dir, setup) ? made : []) {
    const below = { dir, path: path.replace(/\/$/, ''), since: doneAt };
    left += await removeTouchedBelow(below, signal);
  }
  if (left === files) return made;
  forgetSetup(dir);
  return [];
}

async function countFiles(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  let files = 0;
  for (const path of paths) {
    const below = { dir, path: path.replace(/\/$/, ''), since: Number.POSITIVE_INFINITY };
    files += await removeTouchedBelow(below, signal);
  }
  return files;
}

/** Writes down what was just done in a workspace. */
export async function noteSetup(
  dir: string,
  done: Omit<Setup, 'at' | 'doneAt'>,
  signal: AbortSignal,
): Promise<Setup> {
  await pause(TICK_MS, signal); // What somebody writes from now on is younger than all of it.
  const setup = { ...done, at: dir, doneAt: Date.now() };
  writeNote(dir, SETUP_DONE, JSON.stringify(setup));
  return setup;
}

/** The set-up of a workspace that somebody else may use now; null where he has to do his own. */
export async function lastingSetup(
  ground: Ground,
  dir: string,
  signal: AbortSignal,
): Promise<Setup | null> {
  const setup = setupIn(dir);
  if (setup === null || !setup.keyed || setup.made.length === 0) return null;
  return isThere(dir, setup) && !(await isSpoilt(ground, dir, setup, signal)) ? setup : null;
}

/** Before a workspace is reset for another attempt: forgets a set-up that would not hold there. */
export async function forgetSpoiltSetup(
  ground: Ground,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const setup = setupIn(dir);
  if (setup !== null && (await isSpoilt(ground, dir, setup, signal))) forgetSetup(dir);
}

/** Whoever changed a key file has changed what was made from it, too. */
async function isSpoilt(
  ground: Ground,
  dir: string,
  setup: Setup,
  signal: AbortSignal,
): Promise<boolean> {
  if (setup.loose || !setup.keyed) return setup.loose;
  return setup.key !== (await setupKey(ground, { dir, unkeyed: '' }, signal));
}

/** Whether every path is one of `kept`, or below one. */
export function isCovered(paths: readonly string[], kept: readonly string[]): boolean {
  const folders = kept.filter((path) => path.endsWith('/'));
  const whole = new Set(kept);
  return paths.every(
    (path) => whole.has(path) || folders.some((folder) => path.startsWith(folder)),
  );
}

/** The content of the files that these names cover, as one name. */
async function contentsOf(
  dir: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const found: (readonly [string, string])[] = [];
  const rest: string[] = [];
  for (const name of names) {
    const content = isLiteral(name) ? await contentOf(join(dir, name)) : 'many';
    if (content === 'many') rest.push(name);
    else found.push([name, content]);
  }
  const files = rest.length === 0 ? [] : await filesIn(dir, signal);
  for (const file of files.filter((path) => inScope(path, rest))) {
    found.push([file, await contentOf(join(dir, file))]);
  }
  return digest(JSON.stringify(found));
}

async function contentOf(path: string): Promise<string> {
  try {
    return digest(await readFile(path));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EISDIR' ? 'many' : 'none';
  }
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

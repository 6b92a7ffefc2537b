/**
 * setup: what is remembered of a workspace's set-up, and how long it is valid. Only a finished
 * set-up is remembered: the record is deleted before set-up begins. The key covers everything
 * set-up depends on: commands, environment, tools (`land.fingerprint`) and key files; without key
 * files it is valid for one workspace. It outlives its task only if its files are still there, the
 * key files are unchanged, and it made only ignored files: a reset removes all others.
 */

import { createHash } from 'node:crypto';
import { existsSync, lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { otherwise } from '../base/errors.ts';
import { parseJson } from '../base/parse-json.ts';
import { pause } from '../base/pause.ts';
import { leftoversIn } from '../git/diff.ts';
import { coneOf } from '../git/sparse.ts';
import { filesIn, ignoredIn } from '../git/untracked.ts';
import { readNote, removeNote, writeNote } from '../git/worktree-notes.ts';
import { inScope, isLiteral } from '../model/scope.ts';
import { check } from './check.ts';
import { readPlain } from './plain-file.ts';
import type { RunContext } from './run-context.ts';
import { removeTouched } from './touched-files.ts';

const SETUP_DONE = 'setup';

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

/** Results of set-up and verdicts hold for one kind of machine. */
export const MACHINE = [process.platform, process.arch] as const;

/** Variables of a log-in session: no result depends on them. */
const OF_A_SESSION = new RegExp(
  `^(?:${[
    ...['TMPDIR', 'SSH_(?:AUTH_SOCK|AGENT_PID|CLIENT|CONNECTION|TTY)', 'DBUS_SESSION_BUS_.*'],
    ...['XDG_(?:RUNTIME_DIR|SESSION_.*|SEAT.*|VTNR|CURRENT_DESKTOP)', 'WINDOWPATH'],
  ].join('|')})$`,
);

export function isOfSession(name: string): boolean {
  return OF_A_SESSION.test(name);
}

/** The key of a set-up; `unkeyed` replaces the key files where the plan names none. */
export async function setupKey(
  context: RunContext,
  { dir, unkeyed }: { readonly dir: string; readonly unkeyed: string },
  signal: AbortSignal,
): Promise<string> {
  const { setup, setupKey: names } = context.plan.workspace;
  const env = Object.entries(context.env)
    .filter(([name]) => !isOfSession(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const files = names.length === 0 ? unkeyed : await contentsOf(dir, names, signal);
  const tools = await toolVersions(context, signal);
  const cone = coneOf(dir); // Set-up sees only the folders that are checked out.
  return digest(JSON.stringify([setup, env, tools, ...MACHINE, files, cone]));
}

export function setupIn(dir: string): Setup | null {
  const text = readNote(dir, SETUP_DONE);
  return text === null ? null : parseJson<Setup>(text);
}

export function isThere(dir: string, { made }: Setup): boolean {
  return made.every((path) => existsSync(join(dir, path)));
}

export function forgetSetup(dir: string): void {
  removeNote(dir, SETUP_DONE);
}

/** Records a finished set-up; files in `brought` were not made by it. */
export async function rememberSetup(
  context: RunContext,
  done: { readonly dir: string; readonly key: string; readonly brought: readonly string[] },
  signal: AbortSignal,
): Promise<Setup> {
  const { dir, key } = done;
  const { setupKey: names, inject } = context.plan.workspace;
  const notMade = new Set([...done.brought, ...inject.map(({ to }) => `${to}/`)]);
  const made = (await ignoredIn(dir, signal)).filter((path) => !notMade.has(path));
  const loose = (await leftoversIn(dir, signal)) === 'work';
  const all = { paths: made, since: Number.POSITIVE_INFINITY };
  const files = await removeTouched(dir, all, signal);
  return noteSetup(dir, { key, made, keyed: names.length > 0, loose, files }, signal);
}

/** How far a file system's clock may lag. */
const TICK_MS = 25;

/**
 * Removes files that were added to the results of set-up since. Where results were changed or are
 * missing, the set-up is forgotten. Returns the paths that may stay.
 */
export async function keepSetup(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  const setup = setupIn(dir);
  if (setup === null) return [];
  const { made, files, doneAt } = setup;
  const there = isThere(dir, setup) ? made : [];
  if ((await removeTouched(dir, { paths: there, since: doneAt }, signal)) === files) return made;
  forgetSetup(dir);
  return [];
}

export async function noteSetup(
  dir: string,
  done: Omit<Setup, 'at' | 'doneAt'>,
  signal: AbortSignal,
): Promise<Setup> {
  await pause(TICK_MS, signal); // Later writes are younger than all results.
  const setup = { ...done, at: dir, doneAt: Date.now() };
  writeNote(dir, SETUP_DONE, JSON.stringify(setup));
  return setup;
}

/** The set-up of a workspace, if the next task may use its results. */
export async function lastingSetup(
  context: RunContext,
  dir: string,
  signal: AbortSignal,
): Promise<Setup | null> {
  const setup = setupIn(dir);
  if (setup === null || !setup.keyed || setup.made.length === 0) return null;
  return isThere(dir, setup) && !(await isSpoilt(context, dir, setup, signal)) ? setup : null;
}

/** Before a reset: forgets a set-up that would be invalid afterwards. */
export async function forgetSpoiltSetup(
  context: RunContext,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const setup = setupIn(dir);
  if (setup !== null && (await isSpoilt(context, dir, setup, signal))) forgetSetup(dir);
}

/** A changed key file invalidates the results. */
async function isSpoilt(
  context: RunContext,
  dir: string,
  setup: Setup,
  signal: AbortSignal,
): Promise<boolean> {
  if (setup.loose || !setup.keyed) return setup.loose;
  return setup.key !== (await setupKey(context, { dir, unkeyed: '' }, signal));
}

/** Whether every path is one of `kept`, or below one. */
export function isCovered(paths: readonly string[], kept: readonly string[]): boolean {
  const folders = kept.filter((path) => path.endsWith('/'));
  const whole = new Set(kept);
  return paths.every(
    (path) => whole.has(path) || folders.some((folder) => path.startsWith(folder)),
  );
}

async function contentsOf(
  dir: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const found: (readonly [string, string])[] = [];
  const rest: string[] = [];
  for (const name of names) {
    const content = isLiteral(name) ? await contentOf(dir, name) : 'many';
    if (content === 'many') rest.push(name);
    else found.push([name, content]);
  }
  const files = rest.length === 0 ? [] : await filesIn(dir, signal);
  for (const file of files.filter((path) => inScope(path, rest))) {
    found.push([file, await contentOf(dir, file)]);
  }
  return digest(JSON.stringify(found));
}

/** A file that is larger counts by its size. */
const MOST_BYTES = 256 * 1024 * 1024;

/** `many` for a folder, `none` for nothing. A link counts with the file of the workspace it names. */
async function contentOf(dir: string, path: string): Promise<string> {
  const place = await realpath(join(dir, path)).catch(otherwise(null));
  if (place === null) return 'none';
  const within = relative(await realpath(dir), place);
  if (within.startsWith('../')) return digest(`outside ${within}`);
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return 'many';
  const content = await readPlain(dir, within, MOST_BYTES);
  return content === null ? digest(`not read ${found?.size}`) : digest(content);
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

const LIMIT_MS = 60_000;

/** The output of the plan's fingerprint commands (`land.fingerprint`), asked once a run. */
export function toolVersions(context: RunContext, signal: AbortSignal): Promise<string> {
  const { session } = context;
  session.toolVersions ??= runFingerprints(context, signal).catch((error: unknown) => {
    session.toolVersions = null;
    throw error;
  });
  return session.toolVersions;
}

async function runFingerprints(context: RunContext, signal: AbortSignal): Promise<string> {
  const said: string[] = [];
  for (const command of context.plan.landing.fingerprint ?? []) {
    const { env, repository, run } = context;
    const mark = `${run}/gate.fingerprint`;
    const what = { dir: repository.dir, command, env, mark, suspension: null, onLine: () => {} };
    const result = await check({ ...what, timeoutMs: LIMIT_MS }, signal);
    signal.throwIfAborted();
    said.push(result.kind === 'stopped' ? '' : `${command} ${result.kind} ${result.output}`);
  }
  return said.join('\n');
}

/**
 * inject: folders of the user's that are laid into a task's workspace and never committed.
 *
 *   I1. What git holds in the workspace stays as git has it; only what is missing is laid in. Links
 *       become what they lead to; those that lead nowhere, and repositories inside, stay behind.
 *   I2. What was laid in is ignored through a `.gitignore` of its own folder, which ignores itself:
 *       `git add -A` of an agent does not see it, and nothing changes outside of the workspace.
 *   I3. A tracked file that is blank is hidden from git, by a flag in the index, while the agent
 *       runs, and gets its content back before anybody judges, keeps, resets or merges: `takeBack`.
 *   I4. What was done is written down, in a note about the worktree, before it is done. The pool
 *       removes it with what was laid in.
 */

import { existsSync, lstatSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import { git, splitNul } from '../git/git.ts';
import { nameOf } from '../git/long-lived.ts';
import { headOf } from '../git/refs.ts';
import { coneOf } from '../git/sparse.ts';
import { readNote, removeNote, writeNote } from '../git/worktree-notes.ts';
import type { InjectSpec } from '../model/plan.ts';
import { filesBelow } from './files-below.ts';
import type { Ground } from './ground.ts';

const NOTE = 'injected';
const IGNORE = '.gitignore';

/** What lies in a workspace that is not its own; paths are relative to its root. */
interface Injected {
  /** Files that are ignored, by the folder whose `.gitignore` says so, with the text of that. */
  readonly ignores: readonly { readonly folder: string; readonly text: string }[];
  readonly laid: readonly string[];
  /** Tracked files that are empty. */
  readonly blanked: readonly string[];
}

/** Lays in what the plan says. `blank` is for tasks whose changes count; the others change nothing. */
export async function inject(
  ground: Ground,
  place: { readonly dir: string; readonly mode: 'write' | 'read' | 'here' },
  signal: AbortSignal,
): Promise<void> {
  for (const spec of ground.plan.workspace.inject) {
    const blank = place.mode === 'read' ? [] : spec.blank;
    await injectOne(ground, { ...spec, blank }, place.dir, signal);
  }
}

/** Gives tracked files their content back and makes sure that the rest stays ignored. */
export async function takeBack(dir: string, signal: AbortSignal): Promise<void> {
  const { ignores, blanked } = noteOf(dir);
  for (const { folder, text } of ignores) {
    if (!existsSync(join(dir, folder))) continue; // Whoever removed it removed the files, too.
    const file = join(dir, folder, IGNORE);
    const isThere = (await readFile(file, 'utf8').catch(() => null)) === text;
    if (!isThere) await writeFile(file, text);
  }
  if (blanked.length === 0) return;
  // An agent may have taken one out of the index: then it is gone for good.
  const stdin = nulls([...(await trackedIn(dir, blanked, signal))]);
  await git(dir, ['update-index', `--no-${hiding(dir)}`, '-z', '--stdin'], signal, { stdin });
  await git(dir, ['checkout-index', '-f', '-z', '--stdin'], signal, { stdin });
}

async function injectOne(
  ground: Ground,
  spec: InjectSpec,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const from = resolve(ground.repository.dir, spec.from);
  const at = (name: string): string => [spec.to, name].filter((part) => part !== '').join('/');
  const before = noteOf(dir);
  const tracked = (await hasNothingAt(ground, dir, spec.to, signal))
    ? new Set<string>()
    : await trackedIn(dir, [spec.to === '' ? '.' : spec.to], signal);
  const blanks = spec.blank.map(at);
  const isFree = (path: string): boolean =>
    isReached(dir, path) &&
    !tracked.has(path) &&
    (before.laid.includes(path) || !existsSync(join(dir, path)));
  const files = (await filesBelow(from, spec.skip, signal)).filter(
    (name) => name !== IGNORE && isFree(at(name)) && !blanks.includes(at(name)),
  );
  const empty = spec.blank.filter((name) => isFree(at(name)));
  const isTracked = blanks.some((path) => tracked.has(path));
  const unmerged = isTracked ? await unmergedIn(dir, signal) : new Set();
  const blanked = blanks.filter(
    (path) => tracked.has(path) && !unmerged.has(path) && isReached(dir, path),
  );
  const laid = [...files, ...empty];
  const ignore = await ignoreFor(ground, { from, folder: spec.to, laid, tracked }, signal);

  noteInjected(dir, {
    ignores: [...before.ignores.filter(({ folder }) => folder !== spec.to), ...ignore],
    laid: [...new Set([...before.laid, ...laid.map(at)])],
    blanked: [...new Set([...before.blanked, ...blanked])],
  });
  if (laid.length + blanked.length > 0) await mkdir(join(dir, spec.to), { recursive: true });
  for (const { folder, text } of ignore) await writeFile(join(dir, folder, IGNORE), text);
  for (const name of files) await lay(join(from, name), join(dir, at(name)));
  for (const name of empty) await makeEmpty(join(dir, at(name)));
  await hide(dir, blanked, signal);
}

/** A `.gitignore` for what is laid in; where git holds one there already, the shared exclude. */
async function ignoreFor(
  ground: Ground,
  what: {
    readonly from: string;
    readonly folder: string;
    readonly laid: readonly string[];
    readonly tracked: ReadonlySet<string>;
  },
  signal: AbortSignal,
): Promise<Injected['ignores']> {
  const { from, folder, laid, tracked } = what;
  if (laid.length === 0) return [];
  const own = folder === '' ? IGNORE : `${folder}/${IGNORE}`;
  if (tracked.has(own)) {
    const patterns = laid.map((name) => literalPattern(folder === '' ? name : `${folder}/${name}`));
    await addExcludes(ground.repository.commonDir, patterns, signal);
    return [];
  }
  const theirs = await readFile(join(from, IGNORE), 'utf8').catch(() => '');
  const lines = ['# landfast: laid in, never committed', ...[IGNORE, ...laid].map(literalPattern)];
  return [{ folder, text: `${theirs.trimEnd()}\n${lines.join('\n')}\n`.trimStart() }];
}

/** Whether only folders, and no link that could lead elsewhere, are on the way to a path. */
export function isReached(dir: string, path: string): boolean {
  const parts = path.split('/').slice(0, -1);
  return parts.every((_, index) => {
    const folder = join(dir, ...parts.slice(0, index + 1));
    return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? true;
  });
}

/** A file that goes on with a session keeps what the agent made of it. */
async function lay(from: string, to: string): Promise<void> {
  if (existsSync(to)) return;
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to).catch(() => undefined); // As unreadable as it is for the user.
}

/** A link is replaced: what it leads to is another file, which stays as it is. */
async function makeEmpty(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  await writeFile(path, '');
}

async function hide(dir: string, paths: readonly string[], signal: AbortSignal): Promise<void> {
  if (paths.length === 0) return;
  const args = ['update-index', `--${hiding(dir)}`, '-z', '--stdin'];
  await git(dir, args, signal, { stdin: nulls(paths) });
  for (const path of paths) await makeEmpty(join(dir, path));
}

/** Where only some folders are checked out git looks at skipped files that are there. */
function hiding(dir: string): string {
  return coneOf(dir) === null ? 'skip-worktree' : 'assume-unchanged';
}

/** Whether no file is tracked below a folder, as far as that can be told without a git process. */
async function hasNothingAt(
  { repository }: Ground,
  dir: string,
  folder: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (folder === '' || folder.includes('\n') || existsSync(join(dir, folder))) return false;
  const head = await headOf(dir, signal);
  return head !== null && (await nameOf(repository.commonDir, `${head}:${folder}`)) === 'none';
}

/** Those of the paths, and what is below them, that git tracks. */
export async function trackedIn(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const args = ['--literal-pathspecs', 'ls-files', '-z', '--', ...paths];
  return new Set(splitNul((await git(dir, args, signal)).stdout));
}

/** Files in conflict: an agent is about to resolve them and must see them. */
async function unmergedIn(dir: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const { stdout } = await git(dir, ['diff', '--name-only', '--diff-filter=U', '-z'], signal);
  return new Set(splitNul(stdout));
}

/** Nothing lies in a workspace any more that was laid in. */
export function forgetInjected(dir: string): void {
  removeNote(dir, NOTE);
}

function noteOf(dir: string): Injected {
  const text = readNote(dir, NOTE);
  return text === null ? { ignores: [], laid: [], blanked: [] } : (JSON.parse(text) as Injected);
}

function noteInjected(dir: string, note: Injected): void {
  writeNote(dir, NOTE, JSON.stringify(note));
}

function nulls(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join('');
}

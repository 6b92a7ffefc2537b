/**
 * inject: copies folders of the user's into a workspace, without ever committing them.
 *
 * Tracked files stay as git has them; only missing files are added. Links become what they point
 * to; dangling links and nested repositories are left out. A `.gitignore` in their folder, which
 * ignores itself, hides injected files from an agent's `git add -A`. A tracked file that is blanked
 * is hidden by a flag in the index while the agent runs; `restoreInjected` gives it its content
 * back before the work is judged, kept, reset or merged. A note about the worktree records it all
 * before it is done; the pool removes it together with the files.
 */

import { existsSync } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OperationalError, otherwise } from '../base/errors.ts';
import { makeFolders } from '../base/make-folders.ts';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import { git, joinNul, splitNul } from '../git/git.ts';
import { nameOf } from '../git/long-lived.ts';
import { headOf } from '../git/refs.ts';
import { coneOf } from '../git/sparse.ts';
import { readNote, removeNote, writeNote } from '../git/worktree-notes.ts';
import type { InjectSpec } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { copyMissing, isReachable, readPlain, writePlain } from './plain-file.ts';
import type { RunContext } from './run-context.ts';

const NOTE = 'injected';
const IGNORE = '.gitignore';

/** The injected files of a workspace; paths are relative to its root. */
interface Injected {
  /** The `.gitignore` files that were written, by folder. */
  readonly ignores: readonly { readonly folder: string; readonly text: string }[];
  readonly laid: readonly string[];
  readonly blanked: readonly string[];
}

/** Injects what the plan names. Only tasks whose changes count get blanked files. */
export async function inject(
  context: RunContext,
  place: { readonly dir: string; readonly mode: 'write' | 'read' | 'here' },
  signal: AbortSignal,
): Promise<void> {
  for (const spec of context.plan.workspace.inject) {
    const blank = place.mode === 'read' ? [] : spec.blank;
    await injectOne(context, { ...spec, blank }, place.dir, signal);
  }
}

/** Gives blanked files their content back and makes sure that injected ones stay ignored. */
export async function restoreInjected(dir: string, signal: AbortSignal): Promise<void> {
  const { ignores, blanked } = noteOf(dir);
  for (const { folder, text } of ignores) {
    if (!existsSync(join(dir, folder))) continue; // The injected files are gone with their folder.
    const file = join(folder, IGNORE);
    const found = await readPlain(dir, file, 2 * text.length);
    if (found?.toString('utf8') !== text) await writePlain(dir, file, text);
  }
  if (blanked.length === 0) return;
  // A file that the agent removed from the index stays deleted.
  const stdin = joinNul([...(await trackedIn(dir, blanked, signal))]);
  await git(dir, ['update-index', `--no-${hidingFlag(dir)}`, '-z', '--stdin'], signal, { stdin });
  await git(dir, ['checkout-index', '-f', '-z', '--stdin'], signal, { stdin });
}

async function injectOne(
  context: RunContext,
  spec: InjectSpec,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  const from = resolve(context.repository.dir, spec.from);
  const at = (name: string): string => [spec.to, name].filter((part) => part !== '').join('/');
  const before = noteOf(dir);
  const tracked = (await hasNothingAt(context, dir, spec.to, signal))
    ? new Set<string>()
    : await trackedIn(dir, [spec.to === '' ? '.' : spec.to], signal);
  const blanks = spec.blank.map(at);
  const isFree = (path: string): boolean =>
    isReachable(dir, path) &&
    !tracked.has(path) &&
    (before.laid.includes(path) || !existsSync(join(dir, path)));
  const files = (await filesBelow(from, spec.skip, signal)).filter(
    (name) => name !== IGNORE && isFree(at(name)) && !blanks.includes(at(name)),
  );
  const empty = spec.blank.filter((name) => isFree(at(name)));
  const isTracked = blanks.some((path) => tracked.has(path));
  const unmerged = isTracked ? await unmergedIn(dir, signal) : new Set();
  const blanked = blanks.filter(
    (path) => tracked.has(path) && !unmerged.has(path) && isReachable(dir, path),
  );
  const laid = [...files, ...empty];
  const ignore = await ignoreFor(context, { from, folder: spec.to, laid, tracked }, signal);

  const note: Injected = {
    ignores: [...before.ignores.filter(({ folder }) => folder !== spec.to), ...ignore],
    laid: [...new Set([...before.laid, ...laid.map(at)])],
    blanked: [...new Set([...before.blanked, ...blanked])],
  };
  writeNote(dir, NOTE, JSON.stringify(note));
  if (laid.length + blanked.length > 0) makeFolders(join(dir, spec.to));
  for (const { folder, text } of ignore) await writePlain(dir, join(folder, IGNORE), text);
  for (const name of files) await copyMissing(join(from, name), dir, at(name));
  for (const name of empty) await writePlain(dir, at(name), '');
  await hideFromGit(dir, blanked, signal);
}

/** A `.gitignore` for injected files; where a tracked one exists, the repository's exclude file instead. */
async function ignoreFor(
  context: RunContext,
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
    await addExcludes(context.repository.commonDir, patterns, signal);
    return [];
  }
  const theirs = await readFile(join(from, IGNORE), 'utf8').catch(otherwise(''));
  const lines = ['# landfast: injected, never committed', ...[IGNORE, ...laid].map(literalPattern)];
  return [{ folder, text: `${theirs.trimEnd()}\n${lines.join('\n')}\n`.trimStart() }];
}

async function hideFromGit(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (paths.length === 0) return;
  const args = ['update-index', `--${hidingFlag(dir)}`, '-z', '--stdin'];
  await git(dir, args, signal, { stdin: joinNul(paths) });
  for (const path of paths) await writePlain(dir, path, '');
}

/** In a sparse checkout git ignores skip-worktree for files that exist. */
function hidingFlag(dir: string): string {
  return coneOf(dir) === null ? 'skip-worktree' : 'assume-unchanged';
}

/** Whether no file is tracked below a folder, answered without starting a git process. */
async function hasNothingAt(
  { repository }: RunContext,
  dir: string,
  folder: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (folder === '' || folder.includes('\n') || existsSync(join(dir, folder))) return false;
  const head = await headOf(dir, signal);
  return head !== null && (await nameOf(repository.commonDir, `${head}:${folder}`)) === 'none';
}

export async function trackedIn(
  dir: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const args = ['--literal-pathspecs', 'ls-files', '-z', '--', ...paths];
  return new Set(splitNul((await git(dir, args, signal)).stdout));
}

/** Files in conflict: the agent must see them to resolve them. */
async function unmergedIn(dir: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const { stdout } = await git(dir, ['diff', '--name-only', '--diff-filter=U', '-z'], signal);
  return new Set(splitNul(stdout));
}

export function forgetInjected(dir: string): void {
  removeNote(dir, NOTE);
}

function noteOf(dir: string): Injected {
  const text = readNote(dir, NOTE);
  return text === null ? { ignores: [], laid: [], blanked: [] } : (JSON.parse(text) as Injected);
}

/** A folder of settings has fewer files. */
const MOST_FILES = 20_000;

/** Plain files below a folder, sorted, also behind links; without `skip` and unreadable ones. */
export async function filesBelow(
  folder: string,
  skip: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found: string[] = [];
  const walk = async (below: string, above: readonly string[]): Promise<void> => {
    const here = join(folder, below);
    const real = await realpath(here).catch(otherwise(null));
    if (real === null || above.includes(real)) return;
    const names: readonly string[] = await readdir(here).catch(otherwise([]));
    if (below !== '' && names.includes('.git')) return; // A repository of its own.
    for (const name of names.toSorted()) {
      signal.throwIfAborted();
      const path = below === '' ? name : `${below}/${name}`;
      if (inScope(path, skip)) continue;
      const what = await stat(join(folder, path)).catch(otherwise(null));
      if (what?.isDirectory() === true) await walk(path, [...above, real]);
      else if (what?.isFile() === true) found.push(path);
      if (found.length > MOST_FILES) {
        throw new OperationalError(`${folder} has more than ${MOST_FILES} files.`, {
          remedy: 'A workspace gets a copy of it: move what no agent needs elsewhere.',
        });
      }
    }
  };
  await walk('', []);
  return found;
}

/**
 * bring: what a new workspace needs that git does not hold: untracked files and set-up commands.
 *
 *   B1. Brought files are never committed: what git would see as new is excluded first.
 *   B2. Set-up that finished is not run again in the same workspace; half a set-up is.
 *   B3. What is cleaned away between two uses spares only what set-up itself had made.
 */

import { constants, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Suspension } from '../base/suspension.ts';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import { git, LONG_LIMIT_MS } from '../git/git.ts';
import { gitDirOf } from '../git/git-dir.ts';
import { ignoredIn, untrackedMatching } from '../git/untracked.ts';
import { type CheckResult, check } from './check.ts';
import type { Ground } from './ground.ts';
import { SETUP_DONE } from './pool.ts';

const SETUP_LIMIT_MS = 20 * 60_000;
/** A file of patterns, in git's ignore syntax, in the repository's root. */
const INCLUDE_FILE = '.worktreeinclude';

export type Brought =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string; readonly output: string }
  | { readonly kind: 'stopped' };

export interface Placed {
  readonly dir: string;
  readonly key: string;
  readonly mark: string;
  readonly suspension: Suspension | null;
}

/** Copies untracked files into a workspace and runs its set-up, unless that was done for `key`. */
export async function bring(ground: Ground, place: Placed, signal: AbortSignal): Promise<Brought> {
  const { exclude = [] } = ground.plan.workspace;
  if (exclude.length > 0) await addExcludes(ground.repository.commonDir, exclude, signal);
  await copyUntracked(ground, place.dir, signal);
  if (ground.plan.workspace.setup.length === 0) return { kind: 'ready' };
  if ((await setupOf(place.dir))?.key === place.key) return { kind: 'ready' };
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
  const made = await ignoredIn(place.dir, signal);
  const marker = join(await gitDirOf(place.dir), SETUP_DONE);
  await writeFile(marker, JSON.stringify({ key: place.key, made } satisfies Setup));
  return { kind: 'ready' };
}

/** What a finished set-up was for, and which ignored files and folders were there afterwards. */
interface Setup {
  readonly key: string;
  readonly made: readonly string[];
}

async function setupOf(dir: string): Promise<Setup | null> {
  const text = await readFile(join(await gitDirOf(dir), SETUP_DONE), 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as Setup);
}

/** Removes whatever no commit holds, ignored files too; what set-up made may stay. */
export async function cleanWorkspace(dir: string, signal: AbortSignal): Promise<void> {
  const made = (await setupOf(dir))?.made ?? [];
  const keep = made.flatMap((path) => ['-e', literalPattern(path)]);
  await git(dir, ['clean', '-q', '-ffdx', ...keep], signal, { limitMs: LONG_LIMIT_MS });
}

async function copyUntracked(ground: Ground, dir: string, signal: AbortSignal): Promise<void> {
  const from = ground.repository.dir;
  const patterns = await includePatterns(ground);
  if (patterns.length === 0) return;
  const { files, unignored } = await untrackedMatching(from, patterns, signal);
  if (unignored.length > 0) {
    await addExcludes(ground.repository.commonDir, unignored.map(literalPattern), signal);
  }
  for (const file of files) {
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await copyFile(join(from, file), join(dir, file), constants.COPYFILE_FICLONE);
  }
}

async function includePatterns(ground: Ground): Promise<readonly string[]> {
  const text = await readFile(join(ground.repository.dir, INCLUDE_FILE), 'utf8').catch(() => '');
  const named = text.split('\n').map((line) => line.trim());
  const listed = named.filter((line) => line !== '' && !line.startsWith('#'));
  return [...ground.plan.workspace.copy.map((path) => `/${path}`), ...listed];
}

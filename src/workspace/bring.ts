/**
 * bring: what a new workspace needs that git does not hold: untracked files and set-up commands.
 *
 *   B1. Brought files are never committed: what git would see as new is excluded first.
 *   B2. Set-up that finished is not run again in the same workspace; half a set-up is.
 */

import { constants, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { addExcludes, literalPattern } from '../git/exclude.ts';
import { gitDirOf } from '../git/git-dir.ts';
import { untrackedMatching } from '../git/untracked.ts';
import { type CheckResult, check } from './check.ts';
import type { Ground } from './ground.ts';

const SETUP_LIMIT_MS = 20 * 60_000;
/** A file of patterns, in git's ignore syntax, in the repository's root. */
const INCLUDE_FILE = '.worktreeinclude';

export type Brought =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly message: string; readonly output: string }
  | { readonly kind: 'stopped' };

/** Copies untracked files into a workspace and runs its set-up, unless that was done for `key`. */
export async function bring(
  ground: Ground,
  place: { readonly dir: string; readonly key: string; readonly mark: string },
  signal: AbortSignal,
): Promise<Brought> {
  await copyUntracked(ground, place.dir, signal);
  if (ground.plan.workspace.setup.length === 0) return { kind: 'ready' };
  const marker = join(await gitDirOf(place.dir), 'landfast-setup');
  if ((await readFile(marker, 'utf8').catch(() => null)) === place.key) return { kind: 'ready' };
  for (const command of ground.plan.workspace.setup) {
    const result: CheckResult = await check(
      { dir: place.dir, command, env: ground.env, timeoutMs: SETUP_LIMIT_MS, mark: place.mark },
      signal,
    );
    if (result.kind === 'stopped') return result;
    if (result.kind === 'failed') {
      const message = `The workspace's set-up command failed: ${command}`;
      return { kind: 'failed', message, output: result.output };
    }
  }
  await writeFile(marker, place.key);
  return { kind: 'ready' };
}

async function copyUntracked(ground: Ground, dir: string, signal: AbortSignal): Promise<void> {
  const from = ground.repository.dir;
  const patterns = await includePatterns(ground);
  if (patterns.length === 0) return;
  const files = await untrackedMatching(from, patterns, signal);
  if (files.length === 0) return;
  await addExcludes(ground.repository.commonDir, files.map(literalPattern), signal);
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

/**
 * checkout: whether the user's own checkout stayed as it was while an agent ran elsewhere.
 *
 * The user may work there meanwhile, so a change is told, with the files, and nothing more.
 */

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { git, splitNul } from '../git/git.ts';
import type { Ground } from './ground.ts';

/** The files that differ from HEAD, each with what would change if it were written again. */
export type Fingerprint = ReadonlyMap<string, string>;

/** Takes the fingerprint of the user's checkout. */
export async function fingerprint(ground: Ground, signal: AbortSignal): Promise<Fingerprint> {
  const { dir } = ground.repository;
  const args = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=normal'];
  const { stdout } = await git(dir, args, signal);
  const print = new Map<string, string>();
  for (const line of splitNul(stdout)) {
    const path = line.slice(3);
    const now = await stat(join(dir, path)).catch(() => null);
    print.set(path, `${line.slice(0, 2)} ${now?.mtimeMs} ${now?.size}`);
  }
  return print;
}

/** The files that were touched between two fingerprints. */
export function strayed(before: Fingerprint, after: Fingerprint): readonly string[] {
  const changed = [...after].filter(([path, print]) => before.get(path) !== print);
  const gone = [...before.keys()].filter((path) => !after.has(path));
  return [...changed.map(([path]) => path), ...gone].sort();
}

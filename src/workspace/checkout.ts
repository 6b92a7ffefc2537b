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

/** The looks at a checkout: one is under way at a time. */
interface Looks {
  current: Promise<Fingerprint>;
  /** Begins when the current one has ended; for all who have asked meanwhile. */
  next: Promise<Fingerprint> | null;
}

/** A look that has ended, and when it began. */
interface Recent {
  readonly print: Fingerprint;
  readonly beganAt: number;
}

const recent = new WeakMap<Ground, Recent>();
/** What somebody did so shortly before an attempt may be told of as its own. */
const RECENT_MS = 250;

/** The fingerprint before an attempt begins: that of a look that has just been, if there is one. */
export async function fingerprintBefore(ground: Ground): Promise<Fingerprint> {
  const last = recent.get(ground);
  const isRecent = last !== undefined && performance.now() - last.beganAt < RECENT_MS;
  return isRecent ? last.print : fingerprint(ground);
}

const looks = new WeakMap<Ground, Looks>();
const LOOK_LIMIT_MS = 60_000;

/** Takes the fingerprint of the user's checkout, in a look that begins now or later. */
export function fingerprint(ground: Ground): Promise<Fingerprint> {
  const known = looks.get(ground);
  if (known?.next != null) return known.next;
  const before = known?.current.catch(() => undefined) ?? null;
  const look = before === null ? lookAt(ground) : before.then(() => lookAt(ground));
  if (known === undefined) looks.set(ground, { current: look, next: null });
  else known.next = look;
  const over = (): void => {
    const next = looks.get(ground)?.next ?? null;
    if (next === null) looks.delete(ground);
    else looks.set(ground, { current: next, next: null });
  };
  look.then(over, over);
  return look;
}

async function lookAt(ground: Ground): Promise<Fingerprint> {
  const { dir } = ground.repository;
  const signal = AbortSignal.timeout(LOOK_LIMIT_MS);
  const beganAt = performance.now();
  const args = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=normal'];
  const { stdout } = await git(dir, args, signal);
  const print = new Map<string, string>();
  for (const line of splitNul(stdout)) {
    const path = line.slice(3);
    const now = await stat(join(dir, path)).catch(() => null);
    print.set(path, `${line.slice(0, 2)} ${now?.mtimeMs} ${now?.size}`);
  }
  recent.set(ground, { print, beganAt });
  return print;
}

/** The files that were touched between two fingerprints. */
export function strayed(before: Fingerprint, after: Fingerprint): readonly string[] {
  const changed = [...after].filter(([path, print]) => before.get(path) !== print);
  const gone = [...before.keys()].filter((path) => !after.has(path));
  return [...changed.map(([path]) => path), ...gone].sort();
}

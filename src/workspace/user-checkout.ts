/**
 * Detects changes in the user's own checkout while an agent works elsewhere.
 *
 * The user may work there meanwhile, so a change is only reported, with the files.
 */

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { otherwise } from '../base/errors.ts';
import { pause } from '../base/pause.ts';
import { git, splitNul } from '../git/git.ts';

/** The files that differ from HEAD, each with status, mtime and size. */
type Fingerprint = ReadonlyMap<string, string>;

/** A change this shortly before an attempt may be reported as the attempt's own. */
const RECENT_MS = 250;
/** Attempts that end within five times the length of a look share the next one, within limits. */
const SPACING_LOOKS = 5;
const SPACING_MS = 50;
const MOST_SPACING_MS = 500;
const LOOK_LIMIT_MS = 60_000;

/** Fingerprints one checkout, with as few looks as its callers allow. */
export class CheckoutLooks {
  readonly #dir: string;
  /** Settles with the last look that has begun. */
  #running: Promise<unknown> = Promise.resolve();
  /** The next look, shared by all who ask before it begins. */
  #waiting: Promise<Fingerprint> | null = null;
  /** From the beginning of one look to that of the next. */
  #spacingMs = SPACING_MS;
  #last = { beganAt: -Infinity, print: null as Fingerprint | null };

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** For the start of an attempt: the last fingerprint if it is recent. */
  async before(): Promise<Fingerprint> {
    const { beganAt, print } = this.#last;
    const recentMs = Math.max(RECENT_MS, 2 * this.#spacingMs);
    const isRecent = print !== null && performance.now() - beganAt < recentMs;
    return isRecent ? print : this.now();
  }

  /** From a look that begins now or later. */
  now(): Promise<Fingerprint> {
    this.#waiting ??= this.#lookNext();
    return this.#waiting;
  }

  async #lookNext(): Promise<Fingerprint> {
    const signal = AbortSignal.timeout(LOOK_LIMIT_MS);
    await this.#running;
    const waitMs = this.#last.beganAt + this.#spacingMs - performance.now();
    if (waitMs > 0) await pause(waitMs, signal);
    this.#waiting = null;
    const beganAt = performance.now();
    this.#last = { beganAt, print: this.#last.print };
    const look = fingerprint(this.#dir, signal);
    this.#running = look.catch(otherwise(null));
    const print = await look;
    this.#last = { beganAt, print };
    const wantedMs = SPACING_LOOKS * (performance.now() - beganAt);
    this.#spacingMs = Math.min(Math.max(SPACING_MS, wantedMs), MOST_SPACING_MS);
    return print;
  }
}

async function fingerprint(dir: string, signal: AbortSignal): Promise<Fingerprint> {
  const args = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=normal'];
  const { stdout } = await git(dir, args, signal);
  const print = new Map<string, string>();
  for (const line of splitNul(stdout)) {
    const path = line.slice(3);
    const now = await stat(join(dir, path)).catch(otherwise(null));
    print.set(path, `${line.slice(0, 2)} ${now?.mtimeMs} ${now?.size}`);
  }
  return print;
}

export function changedBetween(before: Fingerprint, after: Fingerprint): readonly string[] {
  const changed = [...after].filter(([path, print]) => before.get(path) !== print);
  const gone = [...before.keys()].filter((path) => !after.has(path));
  return [...changed.map(([path]) => path), ...gone].sort();
}

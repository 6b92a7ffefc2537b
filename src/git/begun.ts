/**
 * Things in the common directory that are about to have their place in it, each named after the
 * process that makes it.
 *
 *   B1. What a process that is gone had begun is swept away; that of a living one is left alone.
 */

import { randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { startOf } from '../process/table.ts';

/** What is about to have its place in the repository is called, with the process that makes it. */
const BEGUN = 'landfast-worktree-';

/** A name for something that is not whole yet; it is swept away if we do not live to finish it. */
export function begunIn(commonDir: string): string {
  return `${commonDir}/${BEGUN}${process.pid}-${randomUUID()}`;
}

/** Removes what processes that are not there any more had begun. */
export function sweepBegun(commonDir: string): void {
  for (const { path, isDead } of begunThere(commonDir)) {
    if (isDead) rmSync(path, { recursive: true, force: true });
  }
}

/** The inodes of what living processes have begun. */
export function begunInodes(commonDir: string): ReadonlySet<number> {
  const alive = begunThere(commonDir).filter(({ isDead }) => !isDead);
  return new Set(
    alive.flatMap(({ path }) => lstatSync(path, { throwIfNoEntry: false })?.ino ?? []),
  );
}

function begunThere(
  commonDir: string,
): readonly { readonly path: string; readonly isDead: boolean }[] {
  const names = readdirSync(commonDir).filter((name) => name.startsWith(BEGUN));
  return names.map((name) => {
    const pid = Number.parseInt(name.slice(BEGUN.length), 10);
    return { path: `${commonDir}/${name}`, isDead: startOf(pid) === null };
  });
}

/** Names that come from outside or are made here: run ids and branch names. */

import { randomInt } from 'node:crypto';

const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';

/** A new run id that is not taken: sorts by time and reads well. */
export function newRunId(now: Date, isTaken: (id: string) => boolean): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').slice(0, 15).replace('T', '-');
  for (;;) {
    const tail = Array.from({ length: 3 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
    const id = `${stamp}-${tail}`;
    if (!isTaken(id)) return id;
  }
}

/** The rules of `git check-ref-format --branch`, as far as a name can break anything. */
export function isGitBranchName(name: string): boolean {
  return (
    /^[^\s~^:?*[\\\x00-\x1f\x7f]+$/.test(name) &&
    !/^[-/.]|[/.]$|\.\.|\/\/|\/\.|@\{|\.lock(\/|$)/.test(name) &&
    name !== '@'
  );
}

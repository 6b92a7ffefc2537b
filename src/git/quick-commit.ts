/**
 * quick-commit: a commit object without a process, as `git commit-tree` would write it.
 *
 *   Q1. Null where git has to do it: signatures, other object formats, an identity that is unknown.
 *   Q2. The identity is git's own answer, asked once; the time is now, in the user's time zone.
 */

import type { Sha } from './git.ts';
import { identitiesIn } from './identity.ts';
import { noteHeader, writeLoose, writesPlainly } from './loose-object.ts';

/** A user who sets these wants other times than now. */
const DATES = ['GIT_AUTHOR_DATE', 'GIT_COMMITTER_DATE'];

/** Writes the commit, or says null. The message ends with a line break. */
export async function quickCommit(
  commonDir: string,
  {
    tree,
    parents,
    message,
  }: { readonly tree: Sha; readonly parents: readonly Sha[]; readonly message: string },
  signal: AbortSignal,
): Promise<Sha | null> {
  if (!message.endsWith('\n') || message.includes('\0')) return null;
  if (DATES.some((name) => process.env[name] !== undefined)) return null;
  if (!(await writesPlainly(commonDir, signal))) return null;
  const who = await identitiesIn(commonDir, signal);
  if (who === null) return null;
  const now = zonedTime(new Date());
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${who.author} ${now}`,
    `committer ${who.committer} ${now}`,
  ];
  const body = Buffer.from(`${lines.join('\n')}\n\n${message}`);
  const commit = writeLoose(commonDir, 'commit', body);
  noteHeader(commit, { tree, parents });
  return commit;
}

/** As git notes a time: `1700000000 +0100`. */
export function zonedTime(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const two = (part: number): string => String(Math.floor(part)).padStart(2, '0');
  const ahead = Math.abs(minutes);
  const zone = `${minutes < 0 ? '-' : '+'}${two(ahead / 60)}${two(ahead % 60)}`;
  return `${Math.floor(date.getTime() / 1000)} ${zone}`;
}

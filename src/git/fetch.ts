/**
 * fetch: one branch of one remote, so that work can start from its newest commit.
 *
 *   H1. A remote that cannot be asked is no reason to stop: what was fetched before is still there.
 *   H2. Nobody is asked for a password (environment.ts), and the time is bounded.
 */

import { GitError, GitTimeoutError, git, textOf } from './git.ts';

/** What became of a fetch. */
export type Fetched =
  | { readonly kind: 'fetched' }
  | { readonly kind: 'failed'; readonly why: string };

const LIMIT_MS = 60_000;
const WHY_CHARACTERS = 500;

/** Brings `refs/remotes/<remote>/<branch>` up to date. */
export async function fetchBranch(
  dir: string,
  { remote, branch }: { readonly remote: string; readonly branch: string },
  signal: AbortSignal,
): Promise<Fetched> {
  const refs = `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`;
  const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', remote, refs];
  try {
    await git(dir, args, signal, { limitMs: LIMIT_MS });
    return { kind: 'fetched' };
  } catch (error) {
    if (error instanceof GitTimeoutError) return { kind: 'failed', why: error.message };
    if (!(error instanceof GitError)) throw error;
    const why = textOf(error.result).replace(/\/\/[^/\s@]*@/g, '//');
    return { kind: 'failed', why: why.trim().slice(-WHY_CHARACTERS) };
  }
}

/**
 * push: one branch to one remote, as the user would.
 *
 *   Q1. Never forced: a remote branch that holds something else refuses.
 *   Q2. Pushing what is there already is a yes, so that it can be done again after a crash.
 *   Q3. Nobody is asked for a password (environment.ts), and the time is bounded. Hooks apply.
 */

import { GitError, GitTimeoutError, git, LONG_LIMIT_MS, textOf } from './git.ts';

/** What became of a push. */
export type Pushed =
  | { readonly kind: 'pushed' }
  | { readonly kind: 'refused'; readonly why: string }
  /** The network or the service; another time it may work. */
  | { readonly kind: 'unreachable'; readonly why: string };

const WHY_CHARACTERS = 2_000;

const UNREACHABLE = new RegExp(
  [
    'could not resolve host',
    'temporary failure in name resolution',
    'connection (?:refused|timed out|reset|closed)',
    'operation timed out',
    'network is unreachable',
    'no route to host',
    'the remote end hung up',
    'early EOF',
    'kex_exchange_identification',
    'requested URL returned error: (?:429|5\\d\\d)',
  ].join('|'),
  'i',
);

/** Pushes a branch under its own name and makes the remote its upstream. */
export async function pushBranch(
  dir: string,
  { remote, branch }: { readonly remote: string; readonly branch: string },
  signal: AbortSignal,
): Promise<Pushed> {
  const ref = `refs/heads/${branch}`;
  const args = ['push', '--quiet', '--set-upstream', '--', remote, `${ref}:${ref}`];
  try {
    await git(dir, args, signal, { limitMs: LONG_LIMIT_MS });
    return { kind: 'pushed' };
  } catch (error) {
    if (error instanceof GitTimeoutError) return { kind: 'unreachable', why: error.message };
    if (!(error instanceof GitError)) throw error;
    const why = withoutPasswords(textOf(error.result)).slice(-WHY_CHARACTERS);
    return { kind: UNREACHABLE.test(why) ? 'unreachable' : 'refused', why };
  }
}

function withoutPasswords(text: string): string {
  return text.replace(/\/\/[^/\s@]*@/g, '//');
}

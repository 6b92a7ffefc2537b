/**
 * Remotes: what the repository knows of one, and fetching and pushing one branch. A push is never
 * forced, and pushing what is there already succeeds. A remote that cannot be reached is a result.
 * Nothing asks for a password (environment.ts); passwords in addresses are removed from messages.
 */

import { GitError, type GitOptions, GitTimeoutError, git, LONG_LIMIT_MS, textOf } from './git.ts';
import { settingsIn } from './settings.ts';

export interface RemoteBranch {
  readonly remote: string;
  readonly branch: string;
}

export type Fetched =
  | { readonly kind: 'fetched' }
  | { readonly kind: 'failed'; readonly why: string };

export type Pushed =
  | { readonly kind: 'pushed' }
  | { readonly kind: 'refused'; readonly why: string }
  /** The network or the service; another time it may work. */
  | { readonly kind: 'unreachable'; readonly why: string };

const FETCH_LIMIT_MS = 60_000;
const FETCH_WHY_CHARACTERS = 500;
const PUSH_WHY_CHARACTERS = 2_000;

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

/** The address work is pushed to; null where there is no such remote. */
export async function remoteAddress(
  commonDir: string,
  remote: string,
  signal: AbortSignal,
): Promise<string | null> {
  const url = (await settingsIn(commonDir, signal)).get(`remote.${remote}.url`);
  return url === undefined || url === true ? null : url.trim() || null;
}

/** The branches of a remote as of the last fetch, and its default branch. */
export async function remoteBranches(
  commonDir: string,
  remote: string,
  signal: AbortSignal,
): Promise<{ readonly names: readonly string[]; readonly head: string | null }> {
  const prefix = `refs/remotes/${remote}/`;
  const [refs, head] = await Promise.all([
    git(commonDir, ['for-each-ref', '--format=%(refname)', prefix], signal),
    git(commonDir, ['symbolic-ref', '--quiet', `${prefix}HEAD`], signal, { okCodes: [0, 1, 128] }),
  ]);
  const shortened = (ref: string) => (ref.startsWith(prefix) ? ref.slice(prefix.length) : null);
  const names = refs.stdout.split('\n').flatMap((ref) => shortened(ref) ?? []);
  return { names: names.filter((name) => name !== 'HEAD'), head: shortened(head.stdout.trim()) };
}

/** Updates `refs/remotes/<remote>/<branch>`. */
export async function fetchBranch(
  dir: string,
  { remote, branch }: RemoteBranch,
  signal: AbortSignal,
): Promise<Fetched> {
  const refs = `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`;
  const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', remote, refs];
  const problem = await problemOf(dir, args, signal, { limitMs: FETCH_LIMIT_MS });
  if (problem === null) return { kind: 'fetched' };
  return { kind: 'failed', why: problem.text.slice(-FETCH_WHY_CHARACTERS) };
}

/** Pushes a branch under its own name and makes the remote its upstream. */
export async function pushBranch(
  dir: string,
  { remote, branch }: RemoteBranch,
  signal: AbortSignal,
): Promise<Pushed> {
  const ref = `refs/heads/${branch}`;
  const args = ['push', '--quiet', '--set-upstream', '--', remote, `${ref}:${ref}`];
  const problem = await problemOf(dir, args, signal, { limitMs: LONG_LIMIT_MS });
  if (problem === null) return { kind: 'pushed' };
  const why = problem.text.slice(-PUSH_WHY_CHARACTERS);
  return { kind: problem.isTimeout || UNREACHABLE.test(why) ? 'unreachable' : 'refused', why };
}

/** Runs git; null where it succeeds. */
async function problemOf(
  dir: string,
  args: readonly string[],
  signal: AbortSignal,
  options: GitOptions,
): Promise<{ readonly isTimeout: boolean; readonly text: string } | null> {
  try {
    await git(dir, args, signal, options);
    return null;
  } catch (error) {
    if (error instanceof GitTimeoutError) return { isTimeout: true, text: error.message };
    if (!(error instanceof GitError)) throw error;
    const text = textOf(error.result).replace(/\/\/[^/\s@]*@/g, '//');
    return { isTimeout: false, text: text.trim() };
  }
}

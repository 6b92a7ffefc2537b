/**
 * Commits, as the user would make them.
 *
 *   K1. Hooks, identity and signing apply. Their refusal is an answer with a way out, and what was
 *       to be committed stays in the working tree.
 *   K2. Nothing waits for a person: a passphrase that would have to be typed is a refusal.
 *   K3. A message travels on standard input: it may be long, and may start with a dash.
 */

import { assert } from '../base/assert.ts';
import {
  GitError,
  GitTimeoutError,
  git,
  LONG_LIMIT_MS,
  type Sha,
  splitNul,
  textOf,
} from './git.ts';
import { headOf } from './refs.ts';
import { signingRefusal, signsCommits } from './signing.ts';
import { isMerging } from './unfinished.ts';

/** What became of a commit. */
export type Committed =
  | { readonly kind: 'committed'; readonly commit: Sha }
  | { readonly kind: 'refused'; readonly why: string };

/** Who made a change. */
export interface Author {
  readonly name: string;
  readonly email: string;
  /** As git reads it: `1700000000 +0100`. Default: now. */
  readonly date?: string;
}

/** A commit's own data. */
export interface CommitData {
  readonly tree: Sha;
  readonly parents: readonly Sha[];
  readonly author: Required<Author>;
  readonly message: string;
}

const WHY_CHARACTERS = 4_000;

/** A workspace begins without a log of HEAD (worktree.ts), and is to be left without one. */
const NO_LOG = { 'core.logAllRefUpdates': 'false' };

const NO_IDENTITY =
  'git does not know who you are; run `git config --global user.name "Your Name"` and ' +
  '`git config --global user.email you@example.com`';

/** Stages everything in a working tree; says which paths that were, in no order. */
export async function stageAll(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  // Also what lies outside of the folders that are checked out, if only some are.
  const args = ['add', '--all', '--sparse', '--verbose'];
  const { stdout } = await git(dir, args, signal, { limitMs: LONG_LIMIT_MS });
  const lines = stdout.split('\n').slice(0, -1);
  const names = lines.map((line) => /^(?:add|remove) '(.*)'$/.exec(line)?.[1]);
  if (!names.includes(undefined)) return names.map((name) => name ?? '');
  // A name that holds a line end.
  const compare = ['diff', '--cached', '--name-only', '-z', '--no-renames', '--no-ext-diff'];
  return splitNul((await git(dir, compare, signal)).stdout);
}

/** Takes everything out of the index again that was staged; no file is touched. */
export async function unstageAll(dir: string, signal: AbortSignal): Promise<void> {
  await git(dir, ['reset', '-q', '--mixed'], signal, { limitMs: LONG_LIMIT_MS, config: NO_LOG });
}

/** Commits everything in a working tree; concludes a merge that waits to be committed. */
export async function commitAll(
  dir: string,
  options: {
    readonly message: string;
    /** How long hooks and signing may take. */
    readonly limitMs?: number;
    /** Everything is staged already. */
    readonly isStaged?: boolean;
  },
  signal: AbortSignal,
): Promise<Committed | { readonly kind: 'nothing' }> {
  const limitMs = options.limitMs ?? LONG_LIMIT_MS;
  return orRefused(async () => {
    if (options.isStaged !== true) await stageAll(dir, signal);
    const args = ['commit', '--quiet', '--file=-'];
    const how = { stdin: options.message, limitMs, okCodes: [0, 1], config: NO_LOG };
    const result = await git(dir, args, signal, how);
    // Exit 1 is a hook's refusal, or that there is nothing; a merge is worth a commit in any case.
    if (result.code !== 0) {
      if (!(await hasSomething(dir, signal))) return { kind: 'nothing' };
      throw new GitError(args, result);
    }
    const commit = await headOf(dir, signal);
    assert(commit !== null, `${dir} has no HEAD after a commit`);
    return { kind: 'committed', commit };
  });
}

/** Makes a commit of a tree, without a checkout and without hooks; no ref is moved. */
export async function commitTree(
  dir: string,
  commit: {
    readonly tree: Sha;
    readonly parents: readonly Sha[];
    readonly message: string;
    /** Default: the user. */
    readonly author?: Author;
  },
  signal: AbortSignal,
): Promise<Committed> {
  return orRefused(async () => {
    const sign = (await signsCommits(dir, signal)) ? ['-S'] : [];
    const parents = commit.parents.flatMap((parent) => ['-p', parent]);
    const args = ['commit-tree', ...sign, ...parents, '-F', '-', commit.tree];
    const env = environmentOf(commit.author);
    const { stdout } = await git(dir, args, signal, { stdin: commit.message, env });
    return { kind: 'committed', commit: stdout.trim() };
  });
}

/**
 * A commit that nobody will ever see, to be merged with another: it needs no identity and no
 * signature, and the same one has the same id.
 */
export async function draftCommit(
  dir: string,
  { tree, parents }: Pick<CommitData, 'tree' | 'parents'>,
  signal: AbortSignal,
): Promise<Sha> {
  const args = ['commit-tree', ...parents.flatMap((parent) => ['-p', parent]), tree];
  const { stdout } = await git(dir, args, signal, { stdin: 'A draft.\n', env: NOBODY });
  return stdout.trim();
}

const NOBODY = {
  GIT_AUTHOR_NAME: 'landfast',
  GIT_AUTHOR_EMAIL: 'landfast@localhost',
  GIT_AUTHOR_DATE: '@0 +0000',
  GIT_COMMITTER_NAME: 'landfast',
  GIT_COMMITTER_EMAIL: 'landfast@localhost',
  GIT_COMMITTER_DATE: '@0 +0000',
};

/** Reads a commit, for making another one of it. */
export async function readCommit(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<CommitData> {
  const format = '--format=%T%x00%P%x00%an%x00%ae%x00%ad%x00%B';
  const args = ['show', '--no-patch', '--date=raw', format, commit];
  const { stdout } = await git(dir, args, signal);
  const [tree = '', parents = '', name = '', email = '', date = '', message = ''] =
    stdout.split('\0');
  return {
    tree,
    parents: parents.split(' ').filter((parent) => parent !== ''),
    author: { name, email, date },
    message: message.replace(/\n$/, ''), // Added by `show`.
  };
}

/** A merge is worth a commit even if it changes no file. */
async function hasSomething(dir: string, signal: AbortSignal): Promise<boolean> {
  const args = ['diff', '--cached', '--quiet', '--no-ext-diff'];
  const { code } = await git(dir, args, signal, { okCodes: [0, 1] });
  return code === 1 || isMerging(dir);
}

function environmentOf(author: Author | undefined): NodeJS.ProcessEnv {
  if (author === undefined) return {};
  return {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    ...(author.date === undefined ? {} : { GIT_AUTHOR_DATE: author.date }),
  };
}

async function orRefused<T>(
  work: () => Promise<T>,
): Promise<T | { readonly kind: 'refused'; readonly why: string }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GitTimeoutError) return { kind: 'refused', why: error.message };
    if (error instanceof GitError) return { kind: 'refused', why: whyOf(error) };
    throw error;
  }
}

function whyOf(error: GitError): string {
  const said = textOf(error.result).slice(-WHY_CHARACTERS);
  if (/tell me who you are|empty ident name|auto-detect|identity unknown/i.test(said)) {
    return NO_IDENTITY;
  }
  return signingRefusal(said) ?? `git ${error.args[0]} refused: ${said}`;
}

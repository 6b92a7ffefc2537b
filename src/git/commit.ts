/**
 * Commits, as the user would make them: hooks, identity and signing apply. Their refusal is a
 * result with a remedy, and the changes stay in the working tree. Nothing waits for a person
 * (environment.ts), and a program that waits all the same has a time limit.
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
import { isOn, settingsIn } from './settings.ts';
import { isMerging } from './status.ts';
import { withTempFolder } from './temp-folder.ts';

export type Committed = { readonly kind: 'committed'; readonly commit: Sha } | Refused;

interface Refused {
  readonly kind: 'refused';
  readonly why: string;
}

interface CommitData {
  readonly tree: Sha;
  readonly parents: readonly Sha[];
  readonly message: string;
  /** The date as git reads it: `1700000000 +0100`. */
  readonly author: { readonly name: string; readonly email: string; readonly date: string };
}

/** Why nothing can be committed, and what to do about it. */
interface CommitProblem {
  readonly message: string;
  readonly remedy: string;
}

const WHY_CHARACTERS = 4_000;

/** A workspace begins without a log of HEAD (worktree.ts), and is to be left without one. */
const NO_LOG = { 'core.logAllRefUpdates': 'false' };

const NO_IDENTITY =
  'git does not know who you are; run `git config --global user.name "Your Name"` and ' +
  '`git config --global user.email you@example.com`';

/** Stages everything in a working tree and returns the staged paths, unordered. */
export async function stageAll(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  // `--sparse`: also files outside of the folders that are checked out.
  const args = ['add', '--all', '--sparse', '--verbose'];
  const { stdout } = await git(dir, args, signal, { limitMs: LONG_LIMIT_MS });
  const lines = stdout.split('\n').slice(0, -1);
  const names = lines.map((line) => /^(?:add|remove) '(.*)'$/.exec(line)?.[1]);
  if (!names.includes(undefined)) return names.map((name) => name ?? '');
  // A name contains a line break.
  const compare = ['diff', '--cached', '--name-only', '-z', '--no-renames', '--no-ext-diff'];
  return splitNul((await git(dir, compare, signal)).stdout);
}

/** Unstages everything; no file is touched. */
export async function unstageAll(dir: string, signal: AbortSignal): Promise<void> {
  await git(dir, ['reset', '-q', '--mixed'], signal, { limitMs: LONG_LIMIT_MS, config: NO_LOG });
}

/** Commits everything in a working tree, and concludes a merge in progress. */
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
  const { message, limitMs = LONG_LIMIT_MS, isStaged = false } = options;
  return orRefused(async () => {
    if (!isStaged) await stageAll(dir, signal);
    const args = ['commit', '--quiet', '--file=-'];
    const how = { stdin: message, limitMs, okCodes: [0, 1], config: NO_LOG };
    const result = await git(dir, args, signal, how);
    // Exit 1: a hook refused, or there is nothing to commit.
    if (result.code !== 0) {
      if (!(await hasSomething(dir, signal))) return { kind: 'nothing' };
      throw new GitError(args, result);
    }
    const commit = await headOf(dir, signal);
    assert(commit !== null, `${dir} has no HEAD after a commit`);
    return { kind: 'committed', commit };
  });
}

/** Commits a tree without a checkout, hooks or a moved ref. The default author is the user. */
export async function commitTree(
  dir: string,
  { tree, parents, message, author }: Omit<CommitData, 'author'> & Partial<CommitData>,
  signal: AbortSignal,
): Promise<Committed> {
  return orRefused(async () => {
    const sign = (await signsCommits(dir, signal)) ? ['-S'] : [];
    const args = ['commit-tree', ...sign, ...parentArgs(parents), '-F', '-', tree];
    const { stdout } = await git(dir, args, signal, { stdin: message, env: authorIn(author) });
    return { kind: 'committed', commit: stdout.trim() };
  });
}

/** For merging only: it needs no identity and no signature, and equal drafts have equal ids. */
export async function draftCommit(
  dir: string,
  { tree, parents }: Pick<CommitData, 'tree' | 'parents'>,
  signal: AbortSignal,
): Promise<Sha> {
  const args = ['commit-tree', ...parentArgs(parents), tree];
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

function parentArgs(parents: readonly Sha[]): readonly string[] {
  return parents.flatMap((parent) => ['-p', parent]);
}

function authorIn(author: CommitData['author'] | undefined): NodeJS.ProcessEnv {
  if (author === undefined) return {};
  const { name, email, date } = author;
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date };
}

async function orRefused<T>(work: () => Promise<T>): Promise<T | Refused> {
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

/** Null where git knows an author and a committer. */
export async function identityProblem(
  dir: string,
  signal: AbortSignal,
): Promise<CommitProblem | null> {
  const names = ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'];
  const asked = names.map((name) => git(dir, ['var', name], signal, { okCodes: [0, 1, 128] }));
  if ((await Promise.all(asked)).every(({ code }) => code === 0)) return null;
  return {
    message: 'git does not know who you are, so nothing could be committed.',
    remedy:
      'git config --global user.name "Your Name"; git config --global user.email you@example.com',
  };
}

const TRY_LIMIT_MS = 30_000;

export async function signsCommits(dir: string, signal: AbortSignal): Promise<boolean> {
  return isOn(await settingsIn(dir, signal), 'commit.gpgsign');
}

/** Null where commits can be signed, or need not be. */
export async function signingProblem(
  dir: string,
  signal: AbortSignal,
): Promise<CommitProblem | null> {
  if (!(await signsCommits(dir, signal))) return null;
  try {
    await withTempFolder(dir, (aside) => signSomething(dir, aside, signal));
    return null;
  } catch (error) {
    if (!(error instanceof GitError || error instanceof GitTimeoutError)) throw error;
    const why = error instanceof GitError ? reasonIn(textOf(error.result)) : error.message;
    return { message: `${NOT_NOW}: ${why}`, remedy: UNLOCK };
  }
}

/** Its objects go to the folder `aside`. */
async function signSomething(dir: string, aside: string, signal: AbortSignal): Promise<void> {
  const env = { GIT_OBJECT_DIRECTORY: aside };
  const tree = (await git(dir, ['mktree'], signal, { stdin: '', env })).stdout.trim();
  const stdin = 'Whether commits can be signed.\n';
  const args = ['commit-tree', '-S', '-F', '-', tree];
  await git(dir, args, signal, { stdin, env, limitMs: TRY_LIMIT_MS });
}

const NOT_NOW = 'commit.gpgSign is set, but commits cannot be signed without a prompt';

const UNLOCK =
  'Unlock the key first (ssh-add, or sign something with gpg), or do without in this repository: ' +
  'git config commit.gpgSign false';

/** Explains a commit that failed because it could not be signed; null for other failures. */
function signingRefusal(said: string): string | null {
  if (!/failed to sign|gpg failed|signing failed|load (public )?key|passphrase/i.test(said)) {
    return null;
  }
  return `the commit could not be signed, though commit.gpgSign is set: ${reasonIn(said)}`;
}

function reasonIn(said: string): string {
  const isLocked = /passphrase|pinentry|inappropriate ioctl|cannot open .*tty/i.test(said);
  const why = isLocked ? 'the key is locked, and its passphrase cannot be typed here: ' : '';
  return `${why}${said.slice(-WHY_CHARACTERS)}`;
}

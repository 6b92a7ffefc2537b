/**
 * Commits, as the user would make them.
 *
 *   K1. Hooks, identity and signing apply. Their refusal of a working tree is an answer with a way
 *       out, and what was to be committed stays there.
 *   K2. Nothing waits for a person: a passphrase that would have to be typed is a refusal.
 *   K3. A message travels on standard input: it may be long, and may start with a dash.
 */

import { OperationalError } from '../base/errors.ts';
import { GitError, GitTimeoutError, git, LONG_LIMIT_MS, type Sha, textOf } from './git.ts';
import { readRef } from './refs.ts';

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

const WHY_CHARACTERS = 4_000;

const NO_IDENTITY = {
  message: 'git does not know who you are.',
  remedy:
    'Run `git config --global user.name "Your Name"` and ' +
    '`git config --global user.email you@example.com`.',
};

/** Commits everything in a working tree; concludes a merge that waits to be committed. */
export async function commitAll(
  dir: string,
  options: {
    readonly message: string;
    /** Paths known to hold every change, which spares the search of a large tree. */
    readonly paths?: readonly string[];
    /** How long hooks and signing may take. */
    readonly limitMs?: number;
  },
  signal: AbortSignal,
): Promise<Committed | { readonly kind: 'nothing' }> {
  const limitMs = options.limitMs ?? LONG_LIMIT_MS;
  return orRefused(async () => {
    await stage(dir, options.paths, signal);
    if (!(await hasSomething(dir, signal))) return { kind: 'nothing' };
    const args = ['commit', '--quiet', '--file=-'];
    await git(dir, args, signal, { stdin: options.message, limitMs });
    const { stdout } = await git(dir, ['rev-parse', '--verify', 'HEAD'], signal);
    return { kind: 'committed', commit: stdout.trim() };
  });
}

/** A commit of a tree, made without a checkout and without hooks. No ref is moved. */
export async function commitTree(
  dir: string,
  commit: {
    readonly tree: Sha;
    readonly parents: readonly Sha[];
    readonly message: string;
    /** Whether commit.gpgSign counts; a backup should not fail because a key is missing. */
    readonly sign: boolean;
    /** Default: the user. */
    readonly author?: Author;
  },
  signal: AbortSignal,
): Promise<Sha> {
  const sign = commit.sign && (await signsCommits(dir, signal)) ? ['-S'] : [];
  const parents = commit.parents.flatMap((parent) => ['-p', parent]);
  const args = ['commit-tree', ...sign, ...parents, '-F', '-', commit.tree];
  const env = environmentOf(commit.author);
  const made = await orRefused(() => git(dir, args, signal, { stdin: commit.message, env }));
  if ('why' in made) throw new OperationalError(made.why);
  return made.stdout.trim();
}

/** The message of a commit, as it was given. */
export async function messageOfCommit(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<string> {
  const args = ['show', '--no-patch', '--format=%B', commit];
  return (await git(dir, args, signal)).stdout.replace(/\n$/, ''); // Added by `show`.
}

/** Why no commit could be made here by this user, or null if one could. */
export async function identityProblem(
  dir: string,
  signal: AbortSignal,
): Promise<{ readonly message: string; readonly remedy: string } | null> {
  const { code } = await git(dir, ['var', 'GIT_COMMITTER_IDENT'], signal, { okCodes: [0, 128] });
  return code === 0 ? null : NO_IDENTITY;
}

async function stage(
  dir: string,
  paths: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (paths === undefined) {
    await git(dir, ['add', '--all'], signal, { limitMs: LONG_LIMIT_MS });
    return;
  }
  if (paths.length === 0) return;
  // Unlike `add`, it takes paths that are gone from both the tree and the index.
  const args = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
  await git(dir, args, signal, { stdin: `${paths.join('\0')}\0`, limitMs: LONG_LIMIT_MS });
}

/** A merge is worth a commit even if it changes no file. */
async function hasSomething(dir: string, signal: AbortSignal): Promise<boolean> {
  const args = ['diff', '--cached', '--quiet', '--no-ext-diff'];
  const { code } = await git(dir, args, signal, { okCodes: [0, 1] });
  return code === 1 || (await readRef(dir, 'MERGE_HEAD', signal)) !== null;
}

const signing = new Map<string, boolean>();

/** Asked once per directory: a run should not sign half of its commits. */
async function signsCommits(dir: string, signal: AbortSignal): Promise<boolean> {
  const known = signing.get(dir);
  if (known !== undefined) return known;
  const args = ['config', '--type=bool', '--get', 'commit.gpgSign'];
  const { stdout } = await git(dir, args, signal, { okCodes: [0, 1] });
  const answer = stdout.trim() === 'true';
  signing.set(dir, answer);
  return answer;
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
    return `${NO_IDENTITY.message} ${NO_IDENTITY.remedy}`;
  }
  if (/failed to sign|gpg failed|signing failed|Load key/i.test(said)) {
    return `the commit could not be signed, though commit.gpgSign is set: ${said}`;
  }
  return `git ${error.args[0]} refused: ${said}`;
}

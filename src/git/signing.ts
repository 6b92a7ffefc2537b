/**
 * Whether commits are signed, and whether that works without a person.
 *
 *   S1. Asked before hours of work rather than after: a key that is locked, or missing, is found by
 *       signing something that nobody will ever see.
 *   S2. Nothing waits for a passphrase: there is no terminal and no dialogue (environment.ts), and
 *       a program that waits all the same has a time limit.
 */

import { GitError, GitTimeoutError, git, textOf } from './git.ts';
import { isOn, settingsIn } from './settings.ts';
import { withTempFolder } from './temp-folder.ts';

const TRY_LIMIT_MS = 30_000;
const WHY_CHARACTERS = 4_000;

/** Whether commits that are made there are signed. */
export async function signsCommits(dir: string, signal: AbortSignal): Promise<boolean> {
  return isOn(await settingsIn(dir, signal), 'commit.gpgsign');
}

/** What keeps commits from being signed, and the way out; null where they are, or need not be. */
export async function signingProblem(
  dir: string,
  signal: AbortSignal,
): Promise<{ readonly message: string; readonly remedy: string } | null> {
  if (!(await signsCommits(dir, signal))) return null;
  try {
    await withTempFolder(dir, (aside) => signSomething(dir, aside, signal));
    return null;
  } catch (error) {
    if (error instanceof GitTimeoutError)
      return { message: `${NOT_NOW}: ${error.message}`, remedy: UNLOCK };
    if (!(error instanceof GitError)) throw error;
    return { message: `${NOT_NOW}: ${reasonIn(textOf(error.result))}`, remedy: UNLOCK };
  }
}

/** The objects that this makes go to a folder of their own. */
async function signSomething(dir: string, aside: string, signal: AbortSignal): Promise<void> {
  const env = { GIT_OBJECT_DIRECTORY: aside };
  const tree = (await git(dir, ['mktree'], signal, { stdin: '', env })).stdout.trim();
  const stdin = 'Whether commits can be signed.\n';
  const args = ['commit-tree', '-S', '-F', '-', tree];
  await git(dir, args, signal, { stdin, env, limitMs: TRY_LIMIT_MS });
}

const NOT_NOW = 'commit.gpgSign is set, but commits cannot be signed without asking somebody';

const UNLOCK =
  'Unlock the key first (ssh-add, or sign something with gpg), or do without in this repository: ' +
  'git config commit.gpgSign false';

/** What git said of a commit that it could not sign; null where that was not the reason. */
export function signingRefusal(said: string): string | null {
  if (!/failed to sign|gpg failed|signing failed|load (public )?key|passphrase/i.test(said)) {
    return null;
  }
  return `the commit could not be signed, though commit.gpgSign is set: ${reasonIn(said)}`;
}

function reasonIn(said: string): string {
  const isLocked = /passphrase|pinentry|inappropriate ioctl|cannot open .*tty/i.test(said);
  const why = isLocked ? 'the key is locked, and nobody is there to type its passphrase: ' : '';
  return `${why}${said.slice(-WHY_CHARACTERS)}`;
}

/** Refs that hold work which would otherwise be lost: listing them, and what is in one. */

import { git, type Sha } from './git.ts';

export interface KeptRef {
  readonly ref: string;
  readonly commit: Sha;
  /** When its commit was made (ms since 1970). */
  readonly at: number;
  readonly subject: string;
}

/** Every ref below a prefix, the newest first. */
export async function refsBelow(
  dir: string,
  prefix: string,
  signal: AbortSignal,
): Promise<readonly KeptRef[]> {
  const format = '%(refname)%09%(objectname)%09%(committerdate:unix)%09%(contents:subject)';
  const args = ['for-each-ref', '--sort=-committerdate', `--format=${format}`, prefix];
  const { stdout } = await git(dir, args, signal);
  return stdout.split('\n').flatMap((line) => {
    const [ref, commit, at, ...subject] = line.split('\t');
    if (ref === undefined || commit === undefined || ref === '') return [];
    return [{ ref, commit, at: Number(at) * 1000, subject: subject.join('\t') }];
  });
}

/** How many commits and files a commit has that no branch has, as far as HEAD can tell. */
export async function beyondBranches(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<{ readonly commits: number; readonly files: readonly string[] }> {
  const counted = await git(dir, ['rev-list', '--count', commit, '--not', '--branches'], signal);
  const args = ['diff', '--name-only', '-z', `HEAD...${commit}`];
  const { code, stdout } = await git(dir, args, signal, { okCodes: [0, 128] });
  const files = code === 0 ? stdout.split('\0').filter((file) => file !== '') : [];
  return { commits: Number(counted.stdout.trim()), files };
}

/** What a commit changes since it parted from HEAD: a summary, or all of it. */
export async function changesOf(
  dir: string,
  commit: Sha,
  form: 'stat' | 'patch',
  signal: AbortSignal,
): Promise<string> {
  return (await git(dir, ['diff', `--${form}`, `HEAD...${commit}`], signal)).stdout;
}

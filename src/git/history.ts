/** Commits between two others, and what they change. */

import { git, type Sha, splitNul } from './git.ts';

export interface Step {
  readonly commit: Sha;
  readonly parents: readonly Sha[];
}

/** The merges that some commits have and `from` has not. */
export async function mergesAfter(
  dir: string,
  { from, to }: { readonly from: Sha; readonly to: readonly Sha[] },
  signal: AbortSignal,
): Promise<readonly Step[]> {
  const args = ['rev-list', '--merges', '--parents', `^${from}`, ...to];
  return stepsOf((await git(dir, args, signal)).stdout);
}

export async function mergeBase(
  dir: string,
  one: Sha,
  other: Sha,
  signal: AbortSignal,
): Promise<Sha | null> {
  const { stdout } = await git(dir, ['merge-base', one, other], signal, { okCodes: [0, 1] });
  return stdout.trim() || null;
}

/** Whether two commits have a common ancestor: git merges no others. */
export async function areRelated(
  dir: string,
  a: Sha,
  b: Sha,
  signal: AbortSignal,
): Promise<boolean> {
  return (await mergeBase(dir, a, b, signal)) !== null;
}

/** The commits that `to` has and `from` has not, parents before children. */
export async function commitsAfter(
  dir: string,
  { from, to }: { readonly from: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<readonly Step[]> {
  const args = ['rev-list', '--reverse', '--topo-order', '--parents', `^${from}`, to];
  return stepsOf((await git(dir, args, signal)).stdout);
}

function stepsOf(stdout: string): readonly Step[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [commit = '', ...parents] = line.split(' ');
    return { commit, parents };
  });
}

/** The subjects of these commits, the oldest first. */
export async function subjectsAfter(
  dir: string,
  { from, to }: { readonly from: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = ['log', '--reverse', '--no-merges', '--format=%s', `^${from}`, to, '--'];
  const { stdout } = await git(dir, args, signal);
  return stdout.split('\n').filter((line) => line !== '');
}

/** The authors of these commits besides the user, in order of their first commits. */
export async function otherAuthors(
  dir: string,
  { from, to }: { readonly from: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<readonly { readonly name: string; readonly email: string }[]> {
  const args = ['log', '--reverse', '--no-merges', '--format=%aN%x00%aE', `^${from}`, to, '--'];
  const { stdout } = await git(dir, args, signal);
  const authors = new Map<string, { readonly name: string; readonly email: string }>();
  for (const line of stdout.split('\n').filter((each) => each !== '')) {
    const [name = '', email = ''] = line.split('\0');
    if (!authors.has(email.toLowerCase())) authors.set(email.toLowerCase(), { name, email });
  }
  const own = await git(dir, ['var', 'GIT_AUTHOR_IDENT'], signal, { okCodes: [0, 128] });
  authors.delete((/<([^>]*)>/.exec(own.stdout)?.[1] ?? '').toLowerCase());
  return [...authors.values()];
}

/** How many commits no branch has, and the files in which the commit differs from HEAD. */
export async function beyondBranches(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<{ readonly commits: number; readonly files: readonly string[] }> {
  const counted = await git(dir, ['rev-list', '--count', commit, '--not', '--branches'], signal);
  const args = ['diff', '--name-only', '-z', `HEAD...${commit}`];
  const { code, stdout } = await git(dir, args, signal, { okCodes: [0, 128] });
  const files = code === 0 ? splitNul(stdout) : [];
  return { commits: Number(counted.stdout.trim()), files };
}

/** What a commit changes since its merge base with HEAD. */
export async function changesOf(
  dir: string,
  commit: Sha,
  form: 'stat' | 'patch',
  signal: AbortSignal,
): Promise<string> {
  return (await git(dir, ['diff', `--${form}`, `HEAD...${commit}`], signal)).stdout;
}

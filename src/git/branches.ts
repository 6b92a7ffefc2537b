/** Local branches: where they are, what they lead to, and which refs hold a commit. */

import { git, type Sha } from './git.ts';

export interface Branch {
  readonly name: string;
  readonly tip: Sha;
  /** Where it is checked out; empty where it is not. */
  readonly checkout: string;
}

export async function branchesIn(dir: string, signal: AbortSignal): Promise<readonly Branch[]> {
  const format = '--format=%(refname:lstrip=2)%00%(objectname)%00%(worktreepath)';
  const { stdout } = await git(dir, ['for-each-ref', format, 'refs/heads'], signal);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const [name = '', tip = '', checkout = ''] = line.split('\0');
    return { name, tip, checkout };
  });
}

/** The ref that a symbolic ref leads to; null for any other. */
export async function refBehind(
  dir: string,
  ref: string,
  signal: AbortSignal,
): Promise<string | null> {
  const args = ['symbolic-ref', '--quiet', ref];
  const { code, stdout } = await git(dir, args, signal, { okCodes: [0, 1, 128] });
  return code === 0 ? stdout.trim() : null;
}

/** The first ref below these, or of all, that holds a commit; null where none does. */
export async function refHolding(
  dir: string,
  commit: Sha,
  below: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${commit}`];
  return (await git(dir, [...args, ...below], signal)).stdout.trim() || null;
}

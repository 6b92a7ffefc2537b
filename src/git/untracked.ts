/** Files of a working tree that no commit holds: listing and removing them. */

import { literalPattern } from './exclude.ts';
import { git, LONG_LIMIT_MS, splitNul } from './git.ts';

/** Untracked files that match patterns in git's ignore syntax, and those not ignored otherwise. */
export async function untrackedMatching(
  dir: string,
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly files: readonly string[]; readonly unignored: readonly string[] }> {
  const list = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await git(dir, ['ls-files', '-z', '--others', ...args], signal);
    return splitNul(stdout).filter((path) => !path.endsWith('/')); // A repository of its own.
  };
  const files = await list('--ignored', ...patterns.flatMap((pattern) => ['-x', pattern]));
  if (files.length === 0) return { files, unignored: [] };
  const seen = new Set(await list('--exclude-standard'));
  return { files, unignored: files.filter((file) => seen.has(file)) };
}

/** Ignored files, and folders of nothing else. */
export async function ignoredIn(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  return splitNul((await git(dir, args, signal)).stdout);
}

/** Every file that is tracked or would be added, sorted. */
export async function filesIn(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  return [...new Set(splitNul((await git(dir, args, signal)).stdout))].sort();
}

/** Ignored files, and folders of nothing else, that match patterns in git's ignore syntax. */
export async function ignoredMatching(
  dir: string,
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const wanted = patterns.flatMap((pattern) => ['-x', pattern]);
  const args = ['ls-files', '-z', '--others', '--ignored', '--directory', ...wanted];
  const matching = (await git(dir, args, signal)).stdout;
  if (matching === '') return [];
  const options = { stdin: matching, okCodes: [0, 1] }; // 1: none of them.
  return splitNul((await git(dir, ['check-ignore', '-z', '--stdin'], signal, options)).stdout);
}

/** Removes every untracked file, ignored ones and nested repositories too, except these. */
export async function removeUntracked(
  dir: string,
  except: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const keep = except.flatMap((path) => ['-e', literalPattern(path)]);
  await git(dir, ['clean', '-q', '-ffdx', ...keep], signal, { limitMs: LONG_LIMIT_MS });
}

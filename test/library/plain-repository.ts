/** A repository for another program to use: only its folder and its environment are known here. */

import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { writeFiles } from '../support/temp-dir.ts';

const exec = promisify(execFile);

type Env = Readonly<Record<string, string>>;

/** Makes a repository with these files on `main`, and one branch for each of the others. */
export async function plainRepository(
  dir: string,
  files: Readonly<Record<string, string>>,
  env: Env,
  branches: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): Promise<string> {
  mkdirSync(dir);
  const git = (...args: readonly string[]) => exec('git', args, { cwd: dir, env });
  const commit = async (more: Readonly<Record<string, string>>): Promise<void> => {
    await writeFiles(dir, more);
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'Change');
  };
  await git('init', '--quiet', '-b', 'main');
  await git('config', 'user.name', 'Ada Lovelace');
  await git('config', 'user.email', 'ada@example.com');
  await commit(files);
  for (const [branch, more] of Object.entries(branches)) {
    await git('switch', '--quiet', '--create', branch, 'main');
    await commit(more);
  }
  await git('switch', '--quiet', 'main');
  return dir;
}

/** What a working tree's own git folder says, read as files: no process is needed to know it. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { git, splitNul } from './git.ts';

/** The git folder of a working tree: `.git`, or what the file `.git` of a linked one names. */
export async function gitDirOf(dir: string): Promise<string> {
  const path = join(dir, '.git');
  const link = await readFile(path, 'utf8').catch(() => null);
  return link === null ? path : resolve(dir, link.replace(/^gitdir: /, '').trimEnd());
}

/** Whether a folder is a working tree that git knows: linked both ways. */
export async function isWorkingTree(dir: string): Promise<boolean> {
  return existsSync(join(dir, '.git')) && existsSync(join(await gitDirOf(dir), 'HEAD'));
}

/** The full ref that HEAD is on; null when it is detached. */
export async function headRefOf(dir: string): Promise<string | null> {
  const head = await readFile(join(await gitDirOf(dir), 'HEAD'), 'utf8');
  return /^ref: (.+)\n?$/.exec(head)?.[1] ?? null;
}

/** Whether a merge waits to be concluded. */
export async function isMerging(dir: string): Promise<boolean> {
  return existsSync(join(await gitDirOf(dir), 'MERGE_HEAD'));
}

/** Files of a merge in progress that git could not merge by itself. */
export async function unmergedFiles(dir: string, signal: AbortSignal): Promise<readonly string[]> {
  if (!(await isMerging(dir))) return [];
  const args = ['diff', '--name-only', '--diff-filter=U', '-z'];
  return [...splitNul((await git(dir, args, signal)).stdout)];
}

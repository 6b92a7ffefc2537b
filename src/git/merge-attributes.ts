/**
 * The attributes by which `git merge` would merge in a checkout of a commit: merge=union, -merge,
 * drivers of the user. A merge in memory has no checkout to read them from.
 *
 * Since 2.41 git reads them from a commit (`--attr-source`). An older one gets a work tree of
 * nothing but the `.gitattributes` files, if one of them concerns merging. A merge driver of the
 * user runs in a work tree with all files of the commit, since its command may be one of them.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeFolders } from '../base/make-folders.ts';
import { PerRuntime } from '../base/runtime.ts';
import { filesBetween } from './diff.ts';
import { type GitResult, git, LONG_LIMIT_MS, type Sha } from './git.ts';
import { settingsIn } from './settings.ts';
import { withPlainFolder, withTempFolder } from './temp-folder.ts';
import { blobTexts, listTree } from './trees.ts';

/** How to start a git command that merges onto a commit. */
export interface MergeSettings {
  readonly cwd: string;
  /** Before the command's name. */
  readonly before: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** No attribute of the commit concerns merging. */
  readonly isPlain: boolean;
}

/** Attributes that change how files are merged; a macro may stand for any. */
const CONCERNS_MERGING = /merge|binary|conflict-marker-size|\[attr\]/;

export async function withAttributes(
  dir: string,
  onto: Sha,
  merge: (settings: MergeSettings) => Promise<GitResult>,
  signal: AbortSignal,
): Promise<GitResult> {
  const files = await concernedFiles(dir, onto, signal);
  if (files.size === 0) return merge({ cwd: dir, before: [], env: {}, isPlain: true });
  const hasDriver = await hasDrivers(dir, signal);
  if (!hasDriver && (await readsFromCommits(dir, signal))) {
    return merge({ cwd: dir, before: [`--attr-source=${onto}`], env: {}, isPlain: false });
  }
  const mergeIn = async (folder: string): Promise<GitResult> => {
    const cwd = join(folder, 'tree');
    await mkdir(cwd);
    const env = { GIT_DIR: dir, GIT_WORK_TREE: cwd, GIT_INDEX_FILE: join(folder, 'index') };
    const options = { env, limitMs: LONG_LIMIT_MS };
    if (hasDriver) await git(cwd, ['read-tree', '--reset', '-u', onto], signal, options);
    else await writeFiles(cwd, files);
    return merge({ cwd, before: [], env, isPlain: false });
  };
  return hasDriver ? withPlainFolder(mergeIn) : withTempFolder(dir, mergeIn);
}

async function writeFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of files) {
    makeFolders(dirname(join(folder, path)));
    await writeFile(join(folder, path), text);
  }
}

async function hasDrivers(dir: string, signal: AbortSignal): Promise<boolean> {
  return [...(await settingsIn(dir, signal)).keys()].some((name) => DRIVER.test(name));
}

const DRIVER = /^merge\..+\.driver$/s;

/** Whether this git has `--attr-source`. */
async function readsFromCommits(dir: string, signal: AbortSignal): Promise<boolean> {
  const before = known.current?.readsFromCommits;
  if (before !== undefined) return before;
  const { stdout } = await git(dir, ['version'], signal);
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const reads = Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 41);
  if (known.current !== null) known.current.readsFromCommits = reads;
  return reads;
}

/** Every attributes file of a commit with its text; none if no file concerns merging. */
async function concernedFiles(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const found = await attributeFiles(dir, commit, signal);
  if (found.size === 0) return new Map();
  const texts = await blobTexts(dir, [...new Set(found.values())], signal);
  if (![...texts.values()].some((text) => CONCERNS_MERGING.test(text))) return new Map();
  return new Map([...found].map(([path, id]) => [path, texts.get(id) ?? '']));
}

interface Known {
  readsFromCommits?: boolean;
  /** The attributes files of the last commit that was merged onto: the next one is mostly near. */
  readonly last: Map<string, { readonly commit: Sha; readonly files: ReadonlyMap<string, Sha> }>;
}

const known = new PerRuntime<Known>(() => ({ last: new Map() }));

async function attributeFiles(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sha>> {
  const before = known.current?.last.get(dir);
  const isSame =
    before !== undefined &&
    !(await filesBetween(dir, before.commit, commit, signal)).some(isAttributes);
  const files = isSame ? before.files : await listFiles(dir, commit, signal);
  known.current?.last.set(dir, { commit, files });
  return files;
}

/** Links are left out: git does not follow them either. */
async function listFiles(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sha>> {
  const entries = [...(await listTree(dir, ['-r', '--full-tree', commit], signal))];
  const files = entries.filter(
    ([path, { mode }]) =>
      isAttributes(path) && mode.startsWith('100') && !path.split('/').includes('..'),
  );
  return new Map(files.map(([path, { object }]) => [path, object]));
}

export function isAttributes(path: string): boolean {
  return basename(path) === '.gitattributes';
}

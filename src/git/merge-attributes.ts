/**
 * The attributes by which `git merge` would merge in a checkout of a commit: merge=union, -merge,
 * drivers of the user. A merge in memory has no checkout, and finds them only if it is told where.
 *
 *   A1. Since 2.41 git reads them from a commit (`--attr-source`).
 *   A2. An older one gets a work tree that holds nothing but the `.gitattributes` files of the
 *       commit, and only where one of them concerns merging.
 *   A3. Where the user has a merge driver it runs in a work tree with all files of the commit, as
 *       in a checkout: its command may be one of them.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { blobTexts } from './blobs.ts';
import { filesBetween } from './diff.ts';
import { type GitResult, git, LONG_LIMIT_MS, type Sha, splitNul } from './git.ts';
import { settingsIn } from './settings.ts';
import { withTempFolder } from './temp-folder.ts';

/** How a git command that merges onto a commit has to be started. */
export interface MergeSettings {
  readonly cwd: string;
  /** Before the command's name. */
  readonly before: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Attributes that change how files are merged; a macro may stand for any. */
const CONCERNS_MERGING = /merge|binary|conflict-marker-size|\[attr\]/;
const FILE = '.gitattributes';

/** Runs something that merges onto a commit, with the attributes of that. */
export async function withAttributes(
  dir: string,
  onto: Sha,
  merge: (settings: MergeSettings) => Promise<GitResult>,
  signal: AbortSignal,
): Promise<GitResult> {
  const hasDriver = await hasDrivers(dir, signal);
  if (!hasDriver && (await readsFromCommits(dir, signal))) {
    return merge({ cwd: dir, before: [`--attr-source=${onto}`], env: {} });
  }
  const files = await concernedFiles(dir, onto, signal);
  if (files.size === 0) return merge({ cwd: dir, before: [], env: {} });
  return withTempFolder(dir, async (folder) => {
    const cwd = join(folder, 'tree');
    await mkdir(cwd);
    const env = { GIT_DIR: dir, GIT_WORK_TREE: cwd, GIT_INDEX_FILE: join(folder, 'index') };
    if (hasDriver) await git(cwd, ['read-tree', '--reset', '-u', onto], signal, { env, limitMs });
    else await writeFiles(cwd, files);
    return merge({ cwd, before: [], env });
  });
}

const limitMs = LONG_LIMIT_MS;

async function writeFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Whether the user has merge drivers of their own. */
async function hasDrivers(dir: string, signal: AbortSignal): Promise<boolean> {
  return [...(await settingsIn(dir, signal)).keys()].some((name) => DRIVER.test(name));
}

const DRIVER = /^merge\..+\.driver$/s;

let version: Promise<boolean> | null = null;

/** Whether this git has `--attr-source`; asked once. */
function readsFromCommits(dir: string, signal: AbortSignal): Promise<boolean> {
  version ??= git(dir, ['version'], signal).then(({ stdout }) => {
    const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
    return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 41);
  });
  version.catch(() => {
    version = null;
  });
  return version;
}

/** Every attributes file of a commit with its text, if one of them concerns merging. */
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
  readonly commit: Sha;
  readonly files: ReadonlyMap<string, Sha>;
}

/** The last commit that was asked about, by repository: the next one is mostly near. */
const known = new Map<string, Known>();

async function attributeFiles(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sha>> {
  const before = known.get(dir);
  const isSame =
    before !== undefined &&
    !(await filesBetween(dir, before.commit, commit, signal)).some(isAttributes);
  const files = isSame ? before.files : await listFiles(dir, commit, signal);
  known.set(dir, { commit, files });
  return files;
}

/** A link in place of such a file is not followed by git either. */
async function listFiles(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sha>> {
  const { stdout } = await git(dir, ['ls-tree', '-r', '-z', '--full-tree', commit], signal);
  const found = new Map<string, Sha>();
  for (const line of splitNul(stdout)) {
    const tab = line.indexOf('\t');
    const path = line.slice(tab + 1);
    const [mode = '', , id = ''] = line.slice(0, tab).split(' ');
    const isPlain = mode.startsWith('100') && !path.split('/').includes('..');
    if (isPlain && isAttributes(path)) found.set(path, id);
  }
  return found;
}

function isAttributes(path: string): boolean {
  return basename(path) === FILE;
}

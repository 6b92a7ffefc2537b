/**
 * Where the benchmark happens: a folder on a known file system, with an environment of its own, and
 * as many equal repositories as are wanted.
 *
 *   G1. Nothing of the user's is read or written: HOME, XDG folders and git's configuration are
 *       made here. The identity is in that configuration, as a user's would be.
 *   G2. Every run starts from an equal repository: one pack, a clean checkout, and an index that is
 *       not racy (its files are older than itself), so that no git command has to read them again.
 */

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

export interface Ground extends AsyncDisposable {
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** By the numbers that the kernel gives them. */
const FILE_SYSTEMS = new Map([
  [0x01021994, 'tmpfs'],
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x794c7630, 'overlayfs'],
]);
const MEMORY_DISK = '/dev/shm';
const JOURNALS = '/proc/fs/jbd2';
/** Creating files there is slow after many were removed, which blurs every difference. */
export const UNJOURNALED = 'ext4 without a journal';
const FILES_PER_FOLDER = 50;
/** A page, an inode, and its share of the index and of the pack. */
const BYTES_PER_FILE = 5_500;
const LINES_PER_FILE = 40;
const LONG_AGO = new Date('2020-01-01T00:00:00Z');

/** Runs a program to its end. */
export const execute = promisify(execFile);

/** What a repository, its copy and the worktrees of all workers take, and half as much again. */
export function roomFor(files: number, workers: number): number {
  return files * BYTES_PER_FILE * (workers + 3) * 1.5;
}

/** A file system in memory where there is room: disks differ too much in what a new file costs. */
export function defaultPlace(temporary: string, bytes = 0): string {
  if (!existsSync(MEMORY_DISK)) return temporary;
  const { bavail, bsize } = statfsSync(MEMORY_DISK);
  return bavail * bsize > bytes ? MEMORY_DISK : temporary;
}

/** The name of the file system that holds a folder. */
export function fileSystemOf(dir: string): string {
  const { type } = statfsSync(dir);
  const name = FILE_SYSTEMS.get(type) ?? `0x${type.toString(16)}`;
  return name === 'ext4' && !isJournaled(dir) ? UNJOURNALED : name;
}

/** The kernel has a thread for each journal, with a folder that is named after the device. */
function isJournaled(dir: string): boolean {
  const { dev } = statSync(dir);
  const id = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
  const mount = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[2] === id);
  const device = basename(mount?.split(' - ')[1]?.split(' ')[1] ?? '');
  const journals = existsSync(JOURNALS) ? readdirSync(JOURNALS) : [];
  return journals.some((name) => name.startsWith(`${device}-`));
}

/** Makes the folder; `await using` removes it. */
export async function openGround(place: string): Promise<Ground> {
  const dir = await realpath(await mkdtemp(join(place, 'landfast-bench-')));
  const home = join(dir, 'home');
  const temporary = join(dir, 'tmp');
  await mkdir(home);
  await mkdir(temporary);
  await writeFile(join(home, '.gitconfig'), GIT_CONFIG);
  return {
    dir,
    env: {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_CACHE_HOME: join(home, '.cache'),
      XDG_DATA_HOME: join(home, '.local', 'share'),
      XDG_STATE_HOME: join(home, '.local', 'state'),
      TMPDIR: temporary,
      GIT_CONFIG_NOSYSTEM: '1',
      LC_ALL: 'C',
      TZ: 'UTC',
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

const GIT_CONFIG = `[user]
	name = Bench
	email = bench@example.com
[init]
	defaultBranch = main
[gc]
	auto = 0
[maintenance]
	auto = false
`;

/** Counts the processes of git while something happens: each of them leaves a file. */
export async function countingGit<T>(
  { dir }: Ground,
  happens: () => Promise<T>,
): Promise<{ readonly answer: T; readonly gitProcesses: number }> {
  const traces = join(dir, 'traces');
  const config = join(dir, 'home', '.gitconfig');
  await mkdir(traces);
  await writeFile(config, `${GIT_CONFIG}[trace2]\n\teventTarget = ${traces}\n`);
  try {
    const answer = await happens();
    return { answer, gitProcesses: (await readdir(traces)).length };
  } finally {
    await writeFile(config, GIT_CONFIG);
    await rm(traces, { recursive: true });
  }
}

/** Runs git and answers with what it printed. */
export async function git(
  { env }: Ground,
  dir: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { stdout } = await execute('git', args, { cwd: dir, env, signal });
  return stdout.trim();
}

/** Makes the repository that all runs with so many files start from. */
export async function makeTemplate(
  ground: Ground,
  files: number,
  signal: AbortSignal,
): Promise<string> {
  const template = join(ground.dir, `template-${files}`);
  await mkdir(template);
  await git(ground, template, ['init', '--quiet'], signal);
  for (let first = 0; first < files; first += FILES_PER_FOLDER) {
    const folder = join(template, 'src', `part-${first / FILES_PER_FOLDER}`);
    await mkdir(folder, { recursive: true });
    const count = Math.min(FILES_PER_FOLDER, files - first);
    const each = Array.from({ length: count }, (_, index) => first + index);
    await Promise.all(each.map((file) => writeOldFile(join(folder, `file-${file}.txt`), file)));
  }
  await git(ground, template, ['add', '--all'], signal);
  await git(ground, template, ['commit', '--quiet', '-m', 'Start'], signal);
  await git(ground, template, ['repack', '-a', '-d', '--quiet'], signal);
  return template;
}

/** A repository equal to the template. */
export async function copyTemplate(
  ground: Ground,
  template: string,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  await execute('cp', ['-a', template, to], { signal });
  await git(ground, to, ['update-index', '-q', '--refresh'], signal);
}

async function writeOldFile(path: string, seed: number): Promise<void> {
  const line = (_: unknown, index: number): string => `line ${index} of file ${seed}: some text`;
  await writeFile(path, `${Array.from({ length: LINES_PER_FILE }, line).join('\n')}\n`);
  await utimes(path, LONG_AGO, LONG_AGO);
}

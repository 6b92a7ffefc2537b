/**
 * overlay: a worktree whose files are a mount over those of another one, its floor, which nobody
 * changes. What is different in it lies apart, in git's own folder of the worktree:
 *
 *     <common dir>/worktrees/<name>/overlay/lower   the path of the floor
 *                                          /upper   what is different, the link to git included
 *                                          /work    for the kernel
 *
 *   O1. It goes with git's folder of the worktree, which is locked: git does not prune it.
 *   O2. After a power cut the worktree is empty until it is mounted again. One that is not mounted
 *       is not removed, nor is a floor that is in use: `upper` alone may be somebody's work.
 *   O3. Where nothing can be mounted nothing has changed: the worktree is filled in another way.
 */

import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, OperationalError } from '../base/errors.ts';
import { git, LONG_LIMIT_MS, runTool, type Sha } from './git.ts';
import { forgetGitFolders, gitFolderOf, textOf } from './git-dir.ts';

/** A clean worktree and the commit that it holds. */
export interface Floor {
  readonly dir: string;
  readonly commit: Sha;
}

const OVERLAY = 'overlay';
/** What `mount` would take for the end of a path. */
const ODD_PATH = /[,:\\"\n]/;

/** Whether a worktree is mounted over another. */
export function isOverlay(dir: string): boolean {
  return existsSync(`${gitFolderOf(dir)}/${OVERLAY}/lower`);
}

/**
 * Fills a worktree that was just registered, on its branch, with a commit's files; false where it
 * cannot be mounted.
 */
export async function fillByOverlay(
  { dir, commit, floor }: { readonly dir: string; readonly commit: Sha; readonly floor: Floor },
  signal: AbortSignal,
): Promise<boolean> {
  const entry = gitFolderOf(dir);
  const over = join(entry, OVERLAY);
  if ([dir, over, floor.dir].some((path) => ODD_PATH.test(path))) return false;
  for (const part of ['upper', 'work']) mkdirSync(join(over, part), { recursive: true });
  copyFileSync(`${gitFolderOf(floor.dir)}/index`, join(entry, 'index'));
  writeFileSync(join(entry, 'locked'), 'its files are a mount of landfast\n');
  renameSync(join(dir, '.git'), join(over, 'upper', '.git'));
  writeFileSync(join(over, 'lower'), floor.dir); // From here on it can be mounted again.
  if ((await mount(entry, dir, signal)) !== null) {
    renameSync(join(over, 'upper', '.git'), join(dir, '.git'));
    for (const name of [OVERLAY, 'index', 'locked']) {
      rmSync(join(entry, name), { recursive: true, force: true });
    }
    return false;
  }
  const options = { limitMs: LONG_LIMIT_MS, config: { 'core.fileMode': 'true' } };
  const move = ['read-tree', '-m', '-u', '--no-recurse-submodules', floor.commit, commit];
  if (commit !== floor.commit) await git(dir, move, signal, options);
  return true;
}

/** Mounts what is there of an entry; null where that was possible, else what speaks against it. */
async function mount(entry: string, dir: string, signal: AbortSignal): Promise<string | null> {
  const over = join(entry, OVERLAY);
  const lower = textOf(join(over, 'lower')) ?? '';
  const paths = `lowerdir=${lower},upperdir=${over}/upper,workdir=${over}/work`;
  let why = '';
  // Without `redirect_dir` no folder of the floor can be renamed; not everybody may ask for it.
  for (const more of [',redirect_dir=on', '']) {
    why = await complaintOf('mount', ['-t', OVERLAY, OVERLAY, '-o', paths + more, dir], signal);
    forgetGitFolders();
    if (why === '') return null;
  }
  return why;
}

/** What a program said that did not succeed. */
async function complaintOf(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  try {
    const { exit, stderr } = await runTool(file, args, signal);
    if (exit.kind === 'exited' && exit.code === 0) return '';
    return stderr.trim() || `${file} failed`;
  } catch (error) {
    return messageOf(error); // There is no such program.
  }
}

/** Why no worktree of a repository can be mounted over one in that folder; null where it can. */
export async function overlayProblem(
  commonDir: string,
  folder: string,
  signal: AbortSignal,
): Promise<string | null> {
  const [lower, entry] = [aside(folder), aside(commonDir)];
  const dir = join(lower, 'dir');
  try {
    for (const part of ['upper', 'work'])
      mkdirSync(join(entry, OVERLAY, part), { recursive: true });
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(entry, OVERLAY, 'lower'), lower);
    if (ODD_PATH.test(lower + entry)) return 'a path with a comma, a colon, a quote or a backslash';
    const why = await mount(entry, dir, signal);
    if (why === null) await unmount(dir, signal);
    return why;
  } catch (error) {
    return messageOf(error);
  } finally {
    for (const path of [lower, entry]) rmSync(path, { recursive: true, force: true });
  }
}

function aside(folder: string): string {
  return join(folder, `.overlay-${randomUUID()}`);
}

/** Takes the mount away; what was different is still there. */
async function unmount(dir: string, signal: AbortSignal): Promise<void> {
  // A process may still have its working folder in it: it keeps what it has, others see nothing.
  if ((await complaintOf('umount', [dir], signal)) === '') return forgetGitFolders();
  const why = await complaintOf('umount', ['-l', dir], signal);
  forgetGitFolders();
  if (why !== '') throw new OperationalError(`cannot unmount ${dir}: ${why}`);
}

/** Empties a worktree that is mounted; `entry` is git's folder of it. Does nothing for any other. */
export async function dissolve(entry: string, dir: string, signal: AbortSignal): Promise<void> {
  if (!existsSync(join(entry, OVERLAY, 'lower'))) return;
  await unmount(dir, signal);
  renameSync(join(entry, OVERLAY), join(entry, `${OVERLAY}.gone`)); // It cannot come back by half.
}

/** Throws where a worktree is an overlay that is not mounted, or is the floor of one. */
export function requireDispensable(commonDir: string, dir: string): void {
  for (const { place, lower, entry } of overlaysIn(commonDir)) {
    if (lower === dir)
      throw new OperationalError(`${dir} is not removed: ${place} is mounted over it`);
    if (place !== dir || isMounted(dir)) continue;
    throw new OperationalError(`${dir} is not removed: it is not mounted, and may hold work`, {
      remedy: `What it changed is in ${join(entry, OVERLAY, 'upper')}. As root, \`landfast worktrees\` mounts it.`,
    });
  }
}

/** Mounts again what a restart of the machine has taken away; says what could not be, and why. */
export async function mountAgain(
  commonDir: string,
  signal: AbortSignal,
): Promise<readonly { readonly dir: string; readonly why: string }[]> {
  const failed: { readonly dir: string; readonly why: string }[] = [];
  for (const { place, entry } of overlaysIn(commonDir)) {
    if (isMounted(place)) continue;
    mkdirSync(place, { recursive: true });
    const why = await mount(entry, place, signal);
    if (why !== null) failed.push({ dir: place, why });
  }
  return failed;
}

/** Whether a folder is the floor of a worktree. */
export function isFloor(commonDir: string, dir: string): boolean {
  return overlaysIn(commonDir).some(({ lower }) => lower === dir);
}

interface Overlay {
  readonly entry: string;
  /** Where git believes that it is. */
  readonly place: string;
  readonly lower: string;
}

function overlaysIn(commonDir: string): readonly Overlay[] {
  const folder = join(commonDir, 'worktrees');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => {
    const entry = join(folder, name);
    const lower = textOf(join(entry, OVERLAY, 'lower'));
    if (lower === null) return [];
    return [
      { entry, lower, place: dirname(readFileSync(join(entry, 'gitdir'), 'utf8').trimEnd()) },
    ];
  });
}

function isMounted(dir: string): boolean {
  const [own, above] = [dir, dirname(dir)].map((path) => statSync(path, { throwIfNoEntry: false }));
  return own !== undefined && own.dev !== above?.dev;
}

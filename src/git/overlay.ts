/**
 * overlay: a worktree whose files are a mount over those of another one, its floor, which nobody
 * changes. What is different in it lies apart, in git's own folder of the worktree:
 *
 *     <common dir>/worktrees/<name>/overlay/lower   the path of the floor
 *                                          /upper   what is different, the link to git included
 *                                          /work    for the kernel
 *                                          /whole   it was filled; somebody may have worked in it
 *
 *     overlay/ ──► overlay/ and whole ──► overlay.gone/ ──► the whole entry is gone
 *      mounted        in use               being removed
 *
 *   O1. It goes with git's folder of the worktree, which is locked: git does not prune it.
 *   O2. After a power cut the worktree is empty until it is mounted again. One in use that is not
 *       mounted is not removed, nor is a floor that is in use: `upper` alone may be work.
 *   O3. Where nothing can be mounted nothing has changed: the worktree is filled in another way.
 *   O4. What is half made or half removed is removed. Only by whoever has its run: to all others it
 *       may be in the making.
 */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, OperationalError } from '../base/errors.ts';
import { begunIn } from './begun.ts';
import { deleteFolder } from './delete-folder.ts';
import { git, LONG_LIMIT_MS, runTool, type Sha } from './git.ts';
import { forgetGitFolders, gitFolderOf, realOf, textOf } from './git-dir.ts';

/** A clean worktree and the commit that it holds. */
export interface Floor {
  readonly dir: string;
  readonly commit: Sha;
}

const OVERLAY = 'overlay';
const GONE = 'overlay.gone';
/** What `mount` would take for the end of a path. */
const ODD_PATH = /[,:\\"\n]/;
/** Two that mount it at the same time mount it twice. */
const MOST_MOUNTS = 10;

/** Whether a worktree is mounted over another. */
export function isOverlay(dir: string): boolean {
  return existsSync(`${gitFolderOf(dir)}/${OVERLAY}`);
}

/** Whether a worktree was filled, as far as that can be told: others are taken for whole. */
export function isWhole(dir: string): boolean {
  return !isOverlay(dir) || existsSync(`${gitFolderOf(dir)}/${OVERLAY}/whole`);
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
  writeFileSync(join(over, 'lower'), floor.dir);
  renameSync(join(dir, '.git'), join(over, 'upper', '.git'));
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
  writeFileSync(join(over, 'whole'), '');
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

/** What a program said that did not succeed; '' of one that did. */
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

/** Why no worktree of a repository can be a mount; null where it can. */
export async function overlayProblem(
  commonDir: string,
  folder: string,
  signal: AbortSignal,
): Promise<string | null> {
  if (ODD_PATH.test(commonDir + folder))
    return 'a path has a comma, a colon, a quote or a backslash';
  const entry = begunIn(commonDir);
  const [lower, dir] = [join(entry, 'floor'), join(entry, 'dir')];
  try {
    for (const part of ['upper', 'work'])
      mkdirSync(join(entry, OVERLAY, part), { recursive: true });
    for (const path of [lower, dir]) mkdirSync(path);
    writeFileSync(join(entry, OVERLAY, 'lower'), lower);
    const why = await mount(entry, dir, signal);
    await unmount(dir, signal);
    rmSync(entry, { recursive: true });
    return why;
  } catch (error) {
    return messageOf(error);
  }
}

/** Takes all mounts away; what was different is still there. */
async function unmount(dir: string, signal: AbortSignal): Promise<void> {
  for (let left = MOST_MOUNTS; left > 0 && isMounted(dir); left -= 1) {
    if ((await complaintOf('umount', [dir], signal)) === '') continue;
    // Somebody has his working folder in it: he keeps what he has, others see nothing of it.
    const why = await complaintOf('umount', ['-l', dir], signal);
    if (why !== '') throw new OperationalError(`cannot unmount ${dir}: ${why}`);
  }
  forgetGitFolders();
}

/**
 * Removes a worktree that is a mount, or what is left of one; false for any other. Throws where it
 * may hold work that nobody has seen, and for a floor that is in use.
 */
export async function dropOverlay(
  commonDir: string,
  dir: string,
  signal: AbortSignal,
): Promise<boolean> {
  const all = overlaysIn(commonDir);
  if (all.length === 0) return false;
  const path = realOf(dir);
  const above = all.find(({ lower, state }) => lower === path && state !== 'gone');
  if (above !== undefined) {
    throw new OperationalError(`${dir} is not removed: ${above.place} is mounted over it`);
  }
  const one = all.find(({ place }) => place === path);
  if (one === undefined) return false;
  if (one.state === 'whole' && !isMounted(path)) {
    throw new OperationalError(`${dir} is not removed: it is not mounted, and may hold work`, {
      remedy: `Its work is in ${one.entry}/${OVERLAY}/upper; as root, \`landfast worktrees\` mounts it.`,
    });
  }
  await dissolve(commonDir, one, signal);
  return true;
}

/** Each step is the same when done again; what takes long comes last, when nobody knows of it. */
async function dissolve(
  commonDir: string,
  { entry, place, state }: Overlay,
  signal: AbortSignal,
): Promise<void> {
  if (state !== 'gone') renameSync(join(entry, OVERLAY), join(entry, GONE));
  await unmount(place, signal);
  rmSync(join(place, '.git'), { force: true }); // Where it never came to a mount.
  if (existsSync(place)) rmdirSync(place);
  forgetGitFolders();
  const away = begunIn(commonDir);
  renameSync(entry, away);
  await deleteFolder(away, signal);
}

/**
 * Mounts again what a restart of the machine has taken away, and removes what is half made or half
 * removed, of those that are nobody's at the moment: `isFree` is asked for the owner of each. Says
 * what could not be mounted, and why.
 */
export async function mendOverlays(
  commonDir: string,
  isFree: (owner: string) => boolean,
  signal: AbortSignal,
): Promise<readonly { readonly dir: string; readonly why: string }[]> {
  const failed: { readonly dir: string; readonly why: string }[] = [];
  for (const one of overlaysIn(commonDir)) {
    const { place, entry, state } = one;
    if (!isFree(textOf(join(entry, 'landfast-owner')) ?? '')) continue;
    if (state !== 'whole') await dissolve(commonDir, one, signal);
    if (state !== 'whole' || isMounted(place)) continue;
    mkdirSync(place, { recursive: true });
    const why = await mount(entry, place, signal);
    if (why !== null) failed.push({ dir: place, why });
  }
  return failed;
}

/** Whether something is mounted over a folder. */
export function isFloor(commonDir: string, dir: string): boolean {
  const path = realOf(dir);
  return overlaysIn(commonDir).some(({ lower, state }) => lower === path && state !== 'gone');
}

/** By the path of each worktree that is a mount: its floor, and where what is different lies. */
export function mountsOf(
  commonDir: string,
): ReadonlyMap<string, { readonly floor: string; readonly upper: string }> {
  const all = overlaysIn(commonDir).filter(({ state }) => state !== 'gone');
  return new Map(
    all.map(({ place, lower, entry }) => {
      return [place, { floor: lower, upper: join(entry, OVERLAY, 'upper') }];
    }),
  );
}

interface Overlay {
  readonly entry: string;
  /** Where git believes that it is. */
  readonly place: string;
  readonly lower: string;
  readonly state: 'begun' | 'whole' | 'gone';
}

function overlaysIn(commonDir: string): readonly Overlay[] {
  const folder = join(commonDir, 'worktrees');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name): readonly Overlay[] => {
    const entry = join(folder, name);
    const isGone = existsSync(join(entry, GONE));
    if (!isGone && !existsSync(join(entry, OVERLAY))) return [];
    const lower = textOf(join(entry, isGone ? GONE : OVERLAY, 'lower')) ?? '';
    const place = dirname((textOf(join(entry, 'gitdir')) ?? '').trimEnd());
    const isFilled = existsSync(join(entry, OVERLAY, 'whole'));
    const state = isGone ? 'gone' : isFilled ? 'whole' : 'begun';
    return [{ entry, place: realOf(place), lower: realOf(lower), state }];
  });
}

function isMounted(dir: string): boolean {
  const [own, above] = [dir, dirname(dir)].map((path) => statSync(path, { throwIfNoEntry: false }));
  return own !== undefined && own.dev !== above?.dev;
}

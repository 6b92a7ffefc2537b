/**
 * copy-tree: a folder copied with everything in it, as cheaply as the disk can. Links, modes and
 * times are those of the original. A copy that did not succeed is not there.
 *
 *     reflink  both share their blocks until one is written to (btrfs, xfs, APFS …): free and safe
 *     link     both are one file under two names: free, and as safe as its missing write permission
 *     copy     works everywhere
 */

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isSystemError } from '../../base/errors.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { environment } from '../../base/runtime.ts';
import { capture } from '../../process/capture.ts';
import { MACHINE } from '../setup.ts';

export type Way = 'reflink' | 'link' | 'copy';

/** `auto`: a reflink where the disk has them, otherwise a copy. */
export type WayWish = 'auto' | 'copy' | 'link';

/** Root can write to a linked file whatever its mode, and so to the seed itself. */
export function safeWay(wish: WayWish): WayWish {
  return wish === 'link' && process.getuid?.() === 0 ? 'auto' : wish;
}

/** How files are best copied from one folder to another; both exist. */
export async function wayBetween(
  from: string,
  to: string,
  { wish, reflinks }: { readonly wish: WayWish; readonly reflinks: Map<string, boolean> },
): Promise<Way> {
  if (wish !== 'auto') return wish;
  const [one, other] = await Promise.all([stat(from), stat(to)]);
  const disks = `${one.dev} ${other.dev}`;
  const known = reflinks.get(disks) ?? (await canClone(from, to));
  reflinks.set(disks, known);
  return known ? 'reflink' : 'copy';
}

/** Tried with one small file, once for each pair of disks: `cp` would try for each file again. */
async function canClone(from: string, to: string): Promise<boolean> {
  const name = `.probe-${randomUUID()}`;
  const [source, clone] = [join(from, name), join(to, `${name}.clone`)];
  try {
    await writeFile(source, 'probe');
    await copyFile(source, clone, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return false;
  } finally {
    await Promise.all([source, clone].map((path) => rm(path, { force: true })));
  }
}

/** Copies a file or folder to a free path; false where that failed. */
export async function copyTree(
  paths: { readonly from: string; readonly to: string },
  way: Way,
  signal: AbortSignal,
): Promise<boolean> {
  makeFolders(dirname(paths.to));
  if (await copied(paths, way, signal)) return true;
  // A single file may not be cloned although its disk can: it is in use, or has NOCOW set.
  return way === 'reflink' && copied(paths, 'copy', signal);
}

async function copied(
  { from, to }: { readonly from: string; readonly to: string },
  way: Way,
  signal: AbortSignal,
): Promise<boolean> {
  const args = [...ARGUMENTS[MACHINE[0] === 'darwin' ? 'darwin' : 'others'][way], '--'];
  const env = { ...environment(), LC_ALL: 'C' };
  const command = { file: 'cp', args: [...args, from, to], cwd: '/', env, stdin: '' };
  const { exit } = await capture(command, signal);
  const isCopied = exit.kind === 'exited' && exit.code === 0;
  if (!isCopied) await rm(to, { recursive: true, force: true });
  if (exit.kind === 'aborted') throw exit.reason;
  return isCopied;
}

const ARGUMENTS: Readonly<Record<'darwin' | 'others', Readonly<Record<Way, readonly string[]>>>> = {
  darwin: { reflink: ['-Rpc'], link: ['-Rpl'], copy: ['-Rp'] },
  others: { reflink: ['-a', '--reflink=always'], link: ['-al'], copy: ['-a'] },
};

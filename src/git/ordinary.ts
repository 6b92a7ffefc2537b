/**
 * Whether a worktree has no state of its own beyond a commit: then it may be handed on.
 *
 *   O1. What git keeps per worktree besides HEAD and an index (a bisection, a sparse checkout, a
 *       merge, settings) makes it extraordinary; so does every file that is not known here.
 *   O2. So does an index with entries that git was told not to look at.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitDirOf } from './git-dir.ts';

const KNOWN = new Set([
  ...['HEAD', 'ORIG_HEAD', 'FETCH_HEAD', 'commondir', 'gitdir', 'index', 'logs', 'refs'],
  ...['COMMIT_EDITMSG', 'AUTO_MERGE', 'landfast-owner'],
]);

/** True where nothing but the commit distinguishes the worktree from a new one. */
export async function isOrdinary(dir: string): Promise<boolean> {
  const gitDir = await gitDirOf(dir);
  const names = readdirSync(gitDir);
  if (names.some((name) => !KNOWN.has(name))) return false;
  const hasRefs = names.includes('refs') && readdirSync(join(gitDir, 'refs')).length > 0;
  return !hasRefs && names.includes('index') && isPlainIndex(readFileSync(join(gitDir, 'index')));
}

/** Whether every folder holds something; also false where there are too many to look at each. */
export function hasNoEmptyFolder(dir: string): boolean {
  const folders = [dir];
  for (let seen = 0; seen < folders.length; seen += 1) {
    const entries = readdirSync(folders[seen] ?? dir, { withFileTypes: true });
    if (entries.length === 0 || folders.length > MOST_FOLDERS) return false;
    for (const entry of entries) {
      if (entry.isDirectory() && entry.name !== '.git') {
        folders.push(join(entry.parentPath, entry.name));
      }
    }
  }
  return true;
}

const MOST_FOLDERS = 200;
const HEADER_BYTES = 12;
/** Before the flags: times, device, inode, mode, owner, size. The hash follows, then the flags. */
const STAT_BYTES = 40;
const ASSUME_VALID = 0x8000;
const EXTENDED = 0x4000;

/** `DIRC`, version 2, and no entry with a flag that keeps git from looking. */
function isPlainIndex(index: Buffer): boolean {
  if (index.toString('latin1', 0, 4) !== 'DIRC' || index.readUInt32BE(4) !== 2) return false;
  for (const hashBytes of [20, 32]) {
    const answer = scan(index, hashBytes);
    if (answer !== null) return answer;
  }
  return false;
}

/** Null where the entries do not fit to hashes of that length. */
function scan(index: Buffer, hashBytes: number): boolean | null {
  let at = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + STAT_BYTES + hashBytes;
    if (flagsAt + 2 > index.length) return null;
    const flags = index.readUInt16BE(flagsAt);
    if ((flags & (ASSUME_VALID | EXTENDED)) !== 0) return false;
    const end = index.indexOf(0, flagsAt + 2);
    if (end === -1) return null;
    at += Math.floor((end - at) / 8 + 1) * 8; // Names are padded with one to eight NULs.
  }
  return at <= index.length - hashBytes;
}

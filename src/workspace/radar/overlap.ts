/**
 * overlap: whether two sets of changes could conflict, judged by their paths. Nearly all pairs of
 * tasks cannot, and are never merged. Whatever git would call a conflict is let through: the same
 * path, a file where the other has a folder, and a file that is added to a folder which the other
 * empties, which git takes for a folder that was renamed.
 */

import type { Difference } from '../../git/diff.ts';

export type Changes = ReadonlyMap<string, Difference>;

/** The number of paths where the two could conflict. */
export function overlap(a: Changes, b: Changes): number {
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  let count = 0;
  for (const [path] of few) if (many.has(path)) count += 1;
  return count + reaches(a, b) + reaches(b, a);
}

/** Paths of `a` below a file that `b` adds, or added below a folder that `b` deletes from. */
function reaches(a: Changes, b: Changes): number {
  const files = new Set<string>();
  const emptied = new Set<string>();
  for (const [path, how] of b) {
    if (how === 'added') files.add(path);
    if (how === 'deleted') for (const folder of foldersOf(path)) emptied.add(folder);
  }
  if (files.size + emptied.size === 0) return 0;
  let count = 0;
  for (const [path, how] of a) {
    const folders = foldersOf(path);
    const isBelow = folders.some((folder) => files.has(folder));
    const isMoved = how === 'added' && folders.some((folder) => emptied.has(folder));
    if (isBelow || isMoved) count += 1;
  }
  return count;
}

/** `a/b/c` is in `a/b` and `a`. */
function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    folders.push(path.slice(0, at));
  }
  return folders;
}

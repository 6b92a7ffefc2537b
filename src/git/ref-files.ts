/**
 * Refs as they lie on the disk: a file each, or a line of the file with the packed ones. What they
 * do not tell, git does (refs.ts).
 */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { gitFolderOf, likelyText, refIn } from './git-dir.ts';
import { printOf } from './index-file.ts';
import { isThereFromStart } from './settings.ts';

const COMMIT_LINE = /^[0-9a-f]{40}(?:[0-9a-f]{24})?\n$/;

/** Whether a repository keeps its refs in files; that does not change while it is in use. */
export function areRefsInFiles(commonDir: string): boolean {
  return isThereFromStart(`${commonDir}/refs`) && !isThereFromStart(`${commonDir}/reftable`);
}

/**
 * The commit of a ref as the files tell it, the one with packed refs included; null where there is
 * no such ref, undefined where they do not tell: ask git.
 */
export function refInFiles(commonDir: string, ref: string): string | null | undefined {
  const own = likelyText(`${commonDir}/${ref}`);
  if (own !== null) return COMMIT_LINE.test(own) ? own.trimEnd() : undefined;
  if (!areRefsInFiles(commonDir)) return undefined;
  const packed = packedRefs(commonDir);
  const end = packed.indexOf(` ${ref}\n`);
  if (end === -1) return null;
  const commit = packed.slice(packed.lastIndexOf('\n', end) + 1, end);
  return COMMIT_LINE.test(`${commit}\n`) ? commit : undefined;
}

/** Whether there may be refs below such a name as `refs/remotes/origin/`, as far as files tell. */
export function mayHaveRefsBelow(commonDir: string, prefix: string): boolean {
  if (existsSync(`${commonDir}/${prefix}`) || !areRefsInFiles(commonDir)) return true;
  return packedRefs(commonDir).includes(` ${prefix}`);
}

const replacedFromStart = new Map<string, boolean>();

/**
 * Whether git reads every object as it is written: no ref puts another one in its place, no graft
 * gives a commit other parents. One look at each call: a ref that is new is a file, and the folder
 * stays when it is packed.
 */
export function areReadAsWritten(commonDir: string): boolean {
  if (existsSync(`${commonDir}/refs/replace`)) return false;
  const known = replacedFromStart.get(commonDir);
  if (known !== undefined) return !known;
  const isReplaced =
    existsSync(`${commonDir}/reftable`) ||
    existsSync(`${commonDir}/info/grafts`) ||
    packedRefs(commonDir).includes(' refs/replace/');
  replacedFromStart.set(commonDir, isReplaced);
  return !isReplaced;
}

/** The commit that HEAD of a working tree is at, as the files tell it; null says nothing. */
export async function headInFiles(dir: string): Promise<string | null> {
  const gitDir = gitFolderOf(dir);
  const own = likelyText(`${gitDir}/HEAD`) ?? '';
  if (COMMIT_LINE.test(own)) return own.trimEnd();
  const ref = refIn(own);
  const common = likelyText(`${gitDir}/commondir`) ?? '.';
  return ref === null ? null : (refInFiles(resolve(gitDir, common.trimEnd()), ref) ?? null);
}

let packed = { path: '', print: '', text: '' };

/**
 * The file of packed refs, with a line before the first one; '' where there is none. It may be large
 * and is replaced as a whole when it changes, so that it is read once.
 */
export function packedRefs(commonDir: string): string {
  const path = `${commonDir}/packed-refs`;
  const print = printOf(path);
  if (print === null) return '';
  if (packed.path !== path || packed.print !== print) {
    packed = { path, print, text: `\n${likelyText(path) ?? ''}` };
  }
  return packed.text;
}

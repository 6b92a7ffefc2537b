/**
 * Single objects as files: reading and writing one costs a file, not a process.
 *
 *   O1. Only what git would write alike is written: SHA-1, the usual modes. `writesPlainly` says
 *       whether a repository is of that kind; for others the caller uses git.
 *   O2. An object appears whole or not at all, under the name of its contents; writing one that is
 *       there already changes nothing.
 *   O3. Reading says null for anything that is not a file of its own: packed, or not there.
 */

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { git, type Sha } from './git.ts';

export type ObjectType = 'commit' | 'tree';

/** Settings under which git writes objects in another way than we do. */
const ODD =
  '^(extensions\\.objectformat|core\\.sharedrepository|i18n\\.commitencoding|commit\\.cleanup)$';

const plain = new Map<string, Promise<boolean>>();

/** Whether objects of this repository can be written as files; asked once. */
export function writesPlainly(commonDir: string, signal: AbortSignal): Promise<boolean> {
  const known = plain.get(commonDir);
  if (known !== undefined) return known;
  if (!existsSync(join(commonDir, 'objects'))) return Promise.resolve(false);
  const asked = git(commonDir, ['config', '--get-regexp', ODD], signal, { okCodes: [0, 1] }).then(
    ({ stdout }) => stdout === '',
  );
  plain.set(commonDir, asked);
  asked.catch(() => plain.delete(commonDir));
  return asked;
}

/** The contents of an object that is a file of its own; null says nothing. */
export function readLoose(commonDir: string, sha: Sha, type: ObjectType): Buffer | null {
  if (!existsSync(pathOf(commonDir, sha))) return null;
  try {
    const whole = inflateSync(readFileSync(pathOf(commonDir, sha)));
    const end = whole.indexOf(0);
    return whole.toString('latin1', 0, end).startsWith(`${type} `) ? whole.subarray(end + 1) : null;
  } catch {
    return null;
  }
}

/** What a commit that is a file of its own says of itself; null says nothing. */
export function headerOf(
  commonDir: string,
  commit: Sha,
): { readonly tree: Sha; readonly parents: readonly Sha[] } | null {
  const text = readLoose(commonDir, commit, 'commit')?.toString('latin1');
  const tree = text === undefined ? undefined : /^tree ([0-9a-f]+)\n/.exec(text)?.[1];
  if (text === undefined || tree === undefined) return null;
  const header = text.slice(0, text.indexOf('\n\n'));
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent]) => parent!);
  return { tree, parents };
}

/** Writes an object and gives its name. */
export function writeLoose(commonDir: string, type: ObjectType, body: Buffer): Sha {
  const whole = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  const sha = createHash('sha1').update(whole).digest('hex');
  const path = pathOf(commonDir, sha);
  if (existsSync(path)) return sha;
  const folder = join(commonDir, 'objects', sha.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  const temporary = join(folder, `tmp_obj_${randomUUID()}`); // As git calls them: its gc knows them.
  writeFileSync(temporary, deflateSync(whole, { level: 1 }), { mode: 0o444 });
  renameSync(temporary, path);
  return sha;
}

function pathOf(commonDir: string, sha: Sha): string {
  return join(commonDir, 'objects', sha.slice(0, 2), sha.slice(2));
}

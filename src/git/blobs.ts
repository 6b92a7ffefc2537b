/** Which contents files have in a commit, and what is in them. */

import { git, type Sha, splitNul } from './git.ts';

/** One id per file, in order; `-` where the commit does not have it. */
export async function blobIds(
  dir: string,
  which: { readonly commit: string; readonly files: readonly string[] },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = ['ls-tree', '-z', which.commit, '--', ...which.files];
  const { stdout } = await git(dir, args, signal);
  const ids = new Map<string, string>();
  for (const line of stdout.split('\0')) {
    const [meta = '', path] = line.split('\t');
    if (path !== undefined) ids.set(path, meta.split(' ')[2] ?? '-');
  }
  return which.files.map((file) => ids.get(file) ?? '-');
}

/** One file that two commits have differently; null where one of them does not have it. */
export interface BlobChange {
  readonly path: string;
  readonly before: Sha | null;
  readonly after: Sha | null;
}

/** Every file in which two commits differ, with the ids of both contents; no submodules. */
export async function blobChanges(
  dir: string,
  { from, to }: { readonly from: Sha; readonly to: Sha },
  signal: AbortSignal,
): Promise<readonly BlobChange[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to];
  const fields = splitNul((await git(dir, args, signal)).stdout);
  const found: BlobChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    // `:100644 100644 <id> <id> M`, and the path.
    const [was = '', is = '', before = '', after = ''] = fields[at]!.slice(1).split(' ');
    if (was === SUBMODULE || is === SUBMODULE) continue;
    const idOf = (id: string): Sha | null => (/^0+$/.test(id) ? null : id);
    found.push({ path: fields[at + 1]!, before: idOf(before), after: idOf(after) });
  }
  return found;
}

const SUBMODULE = '160000';

/** Every file of a commit with the id of its content; submodules are left out. */
export async function filesOf(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sha>> {
  const files = new Map<string, Sha>();
  for (const line of splitNul((await git(dir, ['ls-tree', '-r', '-z', commit], signal)).stdout)) {
    const tab = line.indexOf('\t');
    const [, kind, id] = line.slice(0, tab).split(' ');
    if (kind === 'blob' && id !== undefined) files.set(line.slice(tab + 1), id);
  }
  return files;
}

/** The ids that files of a working tree would have in a commit; nothing is written. */
export async function hashFiles(
  dir: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<readonly Sha[]> {
  if (files.length === 0) return [];
  const args = ['hash-object', '--stdin-paths'];
  const stdin = files.map((file) => `${file}\n`).join('');
  return (await git(dir, args, signal, { stdin })).stdout.trimEnd().split('\n');
}

/** The text of a blob. */
export async function blobText(dir: string, id: Sha, signal: AbortSignal): Promise<string> {
  return (await git(dir, ['cat-file', 'blob', id], signal)).stdout;
}

/** What stands behind a text: the end of its line, and a line for each that is missing. */
const BEHIND = /\n(?:[0-9a-f]{40,64} missing\n)*$/;
/** Begins a blob in the answer of `blobTexts`; no line of a text is like this and an id. */
const MARK = '\u0001landfast-blob';

/** The texts of many blobs by one process; those that are missing are left out. */
export async function blobTexts(
  dir: string,
  ids: readonly Sha[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Sha, string>> {
  if (ids.length === 0) return new Map();
  const stdin = ids.map((id) => `${id}\n`).join('');
  const args = ['cat-file', `--batch=${MARK} %(objectname)`];
  const [, ...parts] = (await git(dir, args, signal, { stdin })).stdout.split(`${MARK} `);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end), part.slice(end + 1).replace(BEHIND, '')];
    }),
  );
}

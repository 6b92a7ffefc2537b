/** Trees and blobs: reading them, and editing a tree without a checkout. */

import { git, LONG_LIMIT_MS, type Sha, splitNul } from './git.ts';
import { withOwnIndex } from './temp-folder.ts';

/** One id per file, in order; `-` where the commit does not have it. */
export async function blobIds(
  dir: string,
  which: { readonly commit: string; readonly files: readonly string[] },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const entries = await listTree(dir, [which.commit, '--', ...which.files], signal);
  return which.files.map((file) => entries.get(file)?.object ?? '-');
}

/** A file in which two commits differ; null where one of them does not have it. */
export interface BlobChange {
  readonly path: string;
  readonly before: Sha | null;
  readonly after: Sha | null;
}

/** Every file in which two commits differ; no submodules. */
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

export const SUBMODULE = '160000';

/** Every file of a commit with the id of its content; no submodules. */
export async function filesOf(
  dir: string,
  commit: Sha,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Sha>> {
  const entries = [...(await listTree(dir, ['-r', commit], signal))];
  const files = entries.filter(([, { mode }]) => mode !== SUBMODULE);
  return new Map(files.map(([path, { object }]) => [path, object]));
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

export async function blobText(dir: string, id: Sha, signal: AbortSignal): Promise<string> {
  return (await git(dir, ['cat-file', 'blob', id], signal)).stdout;
}

/** Follows a text: a line break, and a line for each missing blob. */
const BEHIND = /\n(?:[0-9a-f]{40,64} missing\n)*$/;
/** Precedes each blob in the output; no line of a text is like this and an id. */
const MARK = '\u0001landfast-blob';

/** The texts of many blobs, read by one process; missing ones are left out. */
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

export interface TreeEntry {
  readonly mode: string;
  readonly object: Sha;
}

/** The tree with these changes by path; null deletes the file. */
export async function editTree(
  dir: string,
  tree: Sha,
  changes: ReadonlyMap<string, TreeEntry | null>,
  signal: AbortSignal,
): Promise<Sha> {
  if (changes.size === 0) return tree;
  return withIndex(dir, tree, signal, async (env) => {
    const lines = [...changes].map(([path, entry]) =>
      entry === null
        ? `0 ${'0'.repeat(tree.length)}\t${path}\0`
        : `${entry.mode} ${entry.object}\t${path}\0`,
    );
    const args = ['update-index', '-z', '--index-info'];
    await git(dir, args, signal, { env, stdin: lines.join('') });
  });
}

/** The tree with these files as they are in a working tree. */
export async function treeWithFiles(
  dir: string,
  tree: Sha,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Sha> {
  if (files.length === 0) return tree;
  return withIndex(dir, tree, signal, async (env) => {
    const args = ['add', '--all', '--force', '--pathspec-from-file=-', '--pathspec-file-nul'];
    const literal = { ...env, GIT_LITERAL_PATHSPECS: '1' };
    await git(dir, args, signal, { env: literal, stdin: `${files.join('\0')}\0` });
  });
}

/** The entries of these paths; paths that the tree does not have are left out. */
export async function entriesOf(
  dir: string,
  tree: Sha,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TreeEntry>> {
  if (paths.length === 0) return new Map();
  return listTree(dir, ['--full-tree', tree, '--', ...paths], signal);
}

/** Runs `ls-tree`; its entries by path. */
export async function listTree(
  dir: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TreeEntry>> {
  const env = { GIT_LITERAL_PATHSPECS: '1' };
  const { stdout } = await git(dir, ['ls-tree', '-z', ...args], signal, { env });
  const entries = splitNul(stdout).map((line) => {
    const tab = line.indexOf('\t');
    const [mode = '', , object = ''] = line.slice(0, tab).split(' ');
    return [line.slice(tab + 1), { mode, object }] as const;
  });
  return new Map(entries);
}

async function withIndex(
  dir: string,
  tree: Sha,
  signal: AbortSignal,
  change: (env: NodeJS.ProcessEnv) => Promise<void>,
): Promise<Sha> {
  return withOwnIndex(dir, async (env) => {
    await git(dir, ['read-tree', tree], signal, { env, limitMs: LONG_LIMIT_MS });
    await change(env);
    return (await git(dir, ['write-tree'], signal, { env })).stdout.trim();
  });
}

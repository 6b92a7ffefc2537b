/** Changes files of a tree without a checkout: through an index of its own, which goes again. */

import { git, LONG_LIMIT_MS, type Sha, splitNul } from './git.ts';
import { withOwnIndex } from './own-index.ts';

/** A file as a tree holds it. */
export interface TreeEntry {
  readonly mode: string;
  readonly object: Sha;
}

/** Contents by path; null deletes the file. */
export type TreeChanges = ReadonlyMap<string, TreeEntry | null>;

/** The tree with these changes. */
export async function editTree(
  dir: string,
  tree: Sha,
  changes: TreeChanges,
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

/** These paths of a tree; those that it does not have are missing. */
export async function entriesOf(
  dir: string,
  tree: Sha,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TreeEntry>> {
  if (paths.length === 0) return new Map();
  const args = ['ls-tree', '-z', '--full-tree', tree, '--', ...paths];
  const env = { GIT_LITERAL_PATHSPECS: '1' };
  const lines = splitNul((await git(dir, args, signal, { env })).stdout);
  const entries = lines.map((line) => {
    const [, mode = '', object = '', path = ''] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line) ?? [];
    return [path, { mode, object }] as const;
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

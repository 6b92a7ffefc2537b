/**
 * Merges two commits in memory: 4 ms in a repository of any size, without a checkout.
 *
 * The output of `git merge-tree -z` for a conflict, each field ended by NUL:
 *
 *   <tree>                                     the files, with conflict markers
 *   <mode> <object> <stage>\t<path>  …         1 the base, 2 ours, 3 theirs
 *   (empty)
 *   <count> <path>… <type> <message>  …        `CONFLICT (modify/delete)`, `Auto-merging` …
 */

import { GitError, type GitResult, git, type Sha, splitNul } from './git.ts';
import { cleanMerge } from './long-lived.ts';
import { type MergeSettings, withAttributes } from './merge-attributes.ts';
import { settingsIn } from './settings.ts';
import { SUBMODULE, type TreeEntry } from './trees.ts';

export type MergeTree =
  | { readonly kind: 'clean'; readonly tree: Sha }
  | {
      readonly kind: 'conflict';
      /** Holds the files with conflict markers. */
      readonly tree: Sha;
      readonly files: readonly string[];
      readonly conflicts: readonly ConflictedPath[];
    };

/** A path in conflict; a side that does not have it is null. */
export interface ConflictedPath extends Readonly<Stages> {
  readonly path: string;
  readonly kind: ConflictKind;
}

interface Stages {
  base: TreeEntry | null;
  ours: TreeEntry | null;
  theirs: TreeEntry | null;
}

type ConflictKind =
  | 'content'
  | 'both-added'
  | 'binary'
  | 'submodule'
  /** The same contents, but only one side made it executable. */
  | 'mode'
  /** A file on one side, a link or a submodule on the other. */
  | 'type'
  | 'deleted-by-ours'
  | 'deleted-by-theirs'
  /** One file, renamed to two names, or two files to one; or renamed and deleted. */
  | 'rename'
  /** A file on one side, a folder of that name on the other. */
  | 'file-folder'
  | 'other';

/** The merge that `git merge` would make in a checkout of `ours`. */
export async function mergeTree(
  dir: string,
  ours: Sha,
  theirs: Sha,
  signal: AbortSignal,
): Promise<MergeTree> {
  const args = ['merge-tree', '--write-tree', '-z', ours, theirs];
  const merge = async ({ cwd, before, env, isPlain }: MergeSettings): Promise<GitResult> => {
    const settings = await settingsIn(dir, signal);
    const tree = isPlain ? await cleanMerge(dir, settings, [ours, theirs]) : null;
    if (tree !== null && tree !== 'conflict') return { code: 0, stdout: tree, stderr: '' };
    return git(cwd, [...before, ...args], signal, { okCodes: [0, 1], env });
  };
  const result = await withAttributes(dir, ours, merge, signal);
  const [tree, ...fields] = splitNul(result.stdout);
  if (tree === undefined) throw new GitError(args, result); // Exit 1 also says: no such commit.
  if (result.code === 0) return { kind: 'clean', tree };
  const end = fields.indexOf('');
  const stages = stagesOf(end < 0 ? fields : fields.slice(0, end));
  const types = typesOf(end < 0 ? [] : fields.slice(end + 1));
  const conflicts = [...stages].map(([path, three]) => ({
    path,
    kind: kindOf(three, types.get(path) ?? new Set()),
    ...three,
  }));
  return { kind: 'conflict', tree, files: conflicts.map(({ path }) => path), conflicts };
}

function stagesOf(fields: readonly string[]): ReadonlyMap<string, Stages> {
  const stages = new Map<string, Stages>();
  for (const field of fields) {
    const [, mode = '', object = '', stage, path = ''] =
      /^(\d+) ([0-9a-f]+) ([123])\t(.*)$/s.exec(field) ?? [];
    const known = stages.get(path) ?? { base: null, ours: null, theirs: null };
    stages.set(path, known);
    known[stage === '1' ? 'base' : stage === '2' ? 'ours' : 'theirs'] = { mode, object };
  }
  return stages;
}

function typesOf(fields: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const types = new Map<string, Set<string>>();
  for (let at = 0; at < fields.length; ) {
    const count = Number(fields[at]);
    const paths = fields.slice(at + 1, at + 1 + count);
    const type = /^CONFLICT \((.*)\)$/.exec(fields[at + 1 + count] ?? '')?.[1];
    for (const path of type === undefined ? [] : paths) {
      types.set(path, (types.get(path) ?? new Set()).add(type!));
    }
    at += count + 3;
  }
  return types;
}

const LINK = '120000';

/** A path may have several types: the most specific counts. */
function kindOf({ base, ours, theirs }: Stages, types: ReadonlySet<string>): ConflictKind {
  const all = [...types];
  if (all.some((type) => type.startsWith('rename'))) return 'rename';
  if (types.has('file/directory')) return 'file-folder';
  if (types.has('distinct modes')) return 'type';
  if (all.some((type) => type.startsWith('submodule'))) return 'submodule';
  if (ours?.mode === SUBMODULE || theirs?.mode === SUBMODULE) return 'submodule';
  if (types.has('binary')) return 'binary';
  if (types.has('modify/delete')) return ours === null ? 'deleted-by-ours' : 'deleted-by-theirs';
  if (ours === null || theirs === null || !types.has('contents')) return 'other';
  if (ours.mode === LINK) return 'other'; // Two links that lead to different places.
  if (ours.mode !== theirs.mode && ours.object === theirs.object) return 'mode';
  return base === null ? 'both-added' : 'content';
}

/** Merges many pairs in one process; of each, in order, the files that conflict. */
export async function conflictsOf(
  dir: string,
  pairs: readonly (readonly [Sha, Sha])[],
  signal: AbortSignal,
): Promise<readonly (readonly string[])[]> {
  if (pairs.length === 0) return [];
  const args = ['merge-tree', '--write-tree', '--stdin', '-z', '--name-only', '--no-messages'];
  const stdin = pairs.map((pair) => `${pair.join(' ')}\n`).join('');
  // A forecast: attributes that changed between these commits are not worth a process each.
  const onto = pairs[0]![0];
  const merge = ({ cwd, before, env }: MergeSettings) =>
    git(cwd, [...before, ...args], signal, { stdin, env });
  const result = await withAttributes(dir, onto, merge, signal);
  const found: (readonly string[])[] = [];
  const fields = result.stdout.split('\0');
  // Each is told as: 1 for clean or 0, the tree, the files, and an empty field.
  for (let at = 0; at + 2 < fields.length; ) {
    const end = fields.indexOf('', at + 2);
    found.push(fields[at] === '1' ? [] : fields.slice(at + 2, end));
    at = end + 1;
  }
  if (found.length !== pairs.length) throw new GitError(args, result);
  return found;
}

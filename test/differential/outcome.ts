/**
 * What a run leaves in a repository: the target's history, the refs, the checkout, and the log of
 * its hooks. Commits are named by their trees, because times and messages may differ.
 */

import { listing } from '../support/look.ts';
import { type Call, readCalls } from './hooks.ts';
import { git, type Side } from './plain-git.ts';

export interface Outcome {
  /** The tree of every first-parent commit of the target, newest first, and its parents' trees. */
  readonly history: readonly string[];
  /** Refs and their values; branches of tasks have names that both sides share. */
  readonly refs: readonly string[];
  /** The run's branch; null if there is none. */
  readonly runBranch: string | null;
  /** The files of the checkout, and what git says of them. */
  readonly checkout: readonly string[];
  /** What git's own check of the objects complains about. */
  readonly fsck: string;
  readonly calls: readonly Call[];
}

const RUN = /^refs\/heads\/landfast\/[^.]+$/;
const NULL = /^0+$/;

/** Looks at a repository after everything has ended. */
export function outcomeOf(side: Side, log: string): Outcome {
  const ask = (...args: readonly string[]) => git(side, side.repo, args).stdout;
  const treeOf = trees(side);
  const lines = ask('log', '--first-parent', '--format=%T|%P', 'main').trim().split('\n');
  const history = lines.map((line) => line.replace(/\b[0-9a-f]{40}\b/g, treeOf));
  const refs = refsOf(ask, treeOf);
  const run = refs.find(([name]) => RUN.test(name));
  const others = refs.filter((ref) => ref !== run);
  return {
    history,
    refs: others.map(([name, at]) => `${sharedName(name)} ${at}`).sort(),
    runBranch: run?.[1] ?? null,
    checkout: [...listing(side.repo), ask('status', '--porcelain', '-z')],
    fsck: git(side, side.repo, ['fsck', '--strict', '--no-dangling', '--no-progress']).stderr,
    calls: readCalls(log, treeOf),
  };
}

type Ask = (...args: readonly string[]) => string;

/** Only the target and the tasks' branches point to new commits. */
function refsOf(ask: Ask, treeOf: (commit: string) => string) {
  const format = '%(refname)|%(objectname)|%(symref)';
  const lines = ask('for-each-ref', `--format=${format}`).trim().split('\n');
  return lines.map((line) => {
    const [name = '', object = '', symbolic = ''] = line.split('|');
    const isNew = name === 'refs/heads/main' || sharedName(name) !== name || RUN.test(name);
    return [name, `${isNew ? treeOf(object) : object} ${symbolic}`] as const;
  });
}

/** `refs/heads/task/t1` and `refs/heads/landfast/20260728-101500-k3v9.t1` are the same branch. */
export function sharedName(ref: string): string {
  return ref.replace(/^refs\/heads\/(?:task\/|landfast\/[^.]+\.)/, 'task:');
}

/** Names commits by their trees; other objects keep their names. */
function trees(side: Side): (object: string) => string {
  const all = ['cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(objectname)'];
  const objects = git(side, side.repo, all).stdout.split('\n');
  const commits = objects.flatMap((line) => (line.startsWith('commit ') ? [line.slice(7)] : []));
  const wanted = commits.map((commit) => `${commit}^{tree}\n`).join('');
  const check = ['cat-file', '--batch-check=%(objectname)'];
  const found = git(side, side.repo, check, wanted).stdout.split('\n');
  const known = new Map(commits.map((commit, nth) => [commit, found[nth] ?? '']));
  return (object) => known.get(object) ?? (NULL.test(object) ? 'none' : object);
}

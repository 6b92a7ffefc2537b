/**
 * settle: files that a merge is the wrong way for. Lockfiles and generated files are made anew by
 * their command, and conflicts that somebody has resolved before are resolved the same way.
 *
 *   S1. All or nothing: where one conflict stays open, nothing is settled and the work goes back.
 *   S2. A generated file starts as the head has it; the command runs in a gate workspace on the
 *       otherwise merged files, and only what is in its `paths` is taken over.
 *       Set-up is not run there: it would use the very files that are to be made.
 *   S3. It always ends: the command has a time limit, and its process tree ends with it.
 */

import { draftCommit } from '../git/commit.ts';
import { changedFiles, filesBetween } from '../git/diff.ts';
import { editTree, entriesOf, type TreeEntry, treeWithFiles } from '../git/edit-tree.ts';
import { mergeBase } from '../git/history.ts';
import type { MergeTree } from '../git/merge-tree.ts';
import type { SettledFile } from '../model/conflict.ts';
import type { RegenerateSpec, Sha } from '../model/plan.ts';
import { inScope } from '../model/scope.ts';
import { check } from '../workspace/check.ts';
import type { Ground } from '../workspace/ground.ts';
import type { Sides } from './conflicts.ts';
import { openGateWorkspace } from './gate-workspace.ts';
import type { Settle, Settled } from './merged-tree.ts';
import { recall } from './resolutions.ts';

/** Settles what the plan and the repository's memory know how to. */
export function settlerFor(ground: Ground): Settle {
  return async (merged, sides, signal) => {
    const generated = await generatedFiles(ground, merged, sides, signal);
    const changes = new Map<string, TreeEntry | null>();
    const files: SettledFile[] = [];
    for (const conflict of merged.kind === 'conflict' ? merged.conflicts : []) {
      if (conflict.path.includes(NO_TEXT)) return { kind: 'as-it-is' };
      if (generated.includes(conflict.path)) continue;
      const known = await recall(ground, conflict, signal);
      if (known === null) return { kind: 'as-it-is' };
      changes.set(conflict.path, known.entry);
      files.push({ path: conflict.path, how: 'memory', by: known.run });
    }
    if (changes.size === 0 && generated.length === 0) return { kind: 'as-it-is' };
    const { commonDir } = ground.repository;
    const heads = await entriesOf(commonDir, sides.ours, generated, signal);
    for (const path of generated) changes.set(path, heads.get(path) ?? null);
    const tree = await editTree(commonDir, merged.tree, changes, signal);
    if (generated.length === 0) return { kind: 'settled', tree, files };
    const made = await regenerate(ground, { tree, onto: sides.ours, generated }, signal);
    return made.kind === 'settled' ? { ...made, files: [...files, ...made.files] } : made;
  };
}

/** Stands for the bytes of a name that is no text: git would take it for another file. */
const NO_TEXT = '\uFFFD';

/** Files with a command of their own that conflict, or that both sides have changed. */
async function generatedFiles(
  { plan, repository }: Ground,
  merged: MergeTree,
  { ours, theirs }: Sides,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const scope = (plan.landing.regenerate ?? []).flatMap(({ paths }) => paths);
  if (scope.length === 0) return [];
  const { commonDir } = repository;
  const conflicting = merged.kind === 'conflict' ? merged.files : [];
  const base = await mergeBase(commonDir, ours, theirs, signal);
  if (base === null) return conflicting.filter((path) => inScope(path, scope));
  const here = new Set(await filesBetween(commonDir, base, theirs, signal));
  const there = await filesBetween(commonDir, base, ours, signal);
  const both = there.filter((path) => here.has(path));
  return [...new Set([...conflicting, ...both])].filter((path) => inScope(path, scope));
}

async function regenerate(
  ground: Ground,
  { tree, onto, generated }: { tree: Sha; onto: Sha; generated: readonly string[] },
  signal: AbortSignal,
): Promise<Settled> {
  const { commonDir } = ground.repository;
  const commit = await draftCommit(commonDir, { tree, parents: [onto] }, signal);
  using place = await openGateWorkspace(ground, commit, signal);
  const rules = (ground.plan.landing.regenerate ?? []).filter(({ paths }) =>
    generated.some((path) => inScope(path, paths)),
  );
  const files: SettledFile[] = [];
  for (const rule of rules) {
    const wrong = await runRule(ground, rule, place, signal);
    signal.throwIfAborted();
    const own = generated.filter((path) => inScope(path, rule.paths));
    if (wrong !== null) return { kind: 'failed', files: own, output: `${rule.run}\n${wrong}` };
    files.push(...own.map((path) => ({ path, how: 'command', by: rule.run }) as const));
  }
  const scope = rules.flatMap(({ paths }) => paths);
  const changed = await changedFiles(place.dir, commit, signal);
  const taken = changed.filter((path) => inScope(path, scope));
  return { kind: 'settled', tree: await treeWithFiles(place.dir, tree, taken, signal), files };
}

/** What the command said where it failed; null where it did not. */
async function runRule(
  { env }: Ground,
  { run: command, timeoutMs }: RegenerateSpec,
  { dir, mark }: { readonly dir: string; readonly mark: string },
  signal: AbortSignal,
): Promise<string | null> {
  const result = await check({ dir, mark, command, env, timeoutMs, suspension: null }, signal);
  return result.kind === 'failed' ? result.output : null;
}

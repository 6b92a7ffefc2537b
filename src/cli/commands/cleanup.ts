/**
 * `landfast cleanup`: removes workspaces that runs have left, after showing what and why.
 *
 *   L1. Nothing is removed before its work is reachable from a ref, whatever the flags.
 *   L2. Without a terminal and without `--yes` it only lists.
 */

import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { messageOf } from '../../base/errors.ts';
import { headOf, isAncestor, tipOf } from '../../git/refs.ts';
import type { Repository } from '../../git/repository.ts';
import { unmergedIn } from '../../git/unmerged.ts';
import { removeWorktree } from '../../git/worktree.ts';
import { openForReading } from '../../journal/database.ts';
import { keptRef } from '../../model/names.ts';
import { cleanupText, type Leftover, planCleanup, type Verdict } from '../../report/cleanup.ts';
import { jsonText } from '../../report/json.ts';
import type { Claimed } from '../../report/workspaces.ts';
import { keepWork } from '../../workspace/keep.ts';
import { runNamed } from '../find-run.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { requireRepository, survey } from '../survey.ts';

export interface CleanupFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly olderThan?: number;
  readonly all?: boolean;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const LIMIT_MS = 600_000;

/** Shows what can go, and removes it if that is wanted. */
export async function cleanup(flags: CleanupFlags): Promise<number> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const place = await findPlace(flags.projectDir, signal);
  const repository = requireRepository(place);
  using db = openForReading(place.stateDir);
  const run = flags.run === undefined || db === null ? null : runNamed(db, flags.run);
  const claimed = await survey(repository, db, signal);
  const leftovers = await Promise.all(claimed.map((each) => measure(each, signal)));
  const all = flags.all === true || flags.force === true;
  const olderThanMs = flags.olderThan ?? 0;
  const verdicts = planCleanup(leftovers, { now: Date.now(), all, olderThanMs, run });
  const going = verdicts.filter(({ remove }) => remove);
  if (flags.json !== true) process.stdout.write(cleanupText(verdicts));
  const wanted = going.length > 0 && flags.dryRun !== true && (await isWanted(flags));
  const removed = wanted ? await removeAll(repository, going, claimed, signal) : [];
  if (flags.json === true) process.stdout.write(jsonText({ verdicts, removed }));
  else if (wanted) console.log(`Removed: ${removed.length}.`);
  const missed = wanted && removed.length < going.length;
  return missed || (all && verdicts.some(({ live }) => live)) ? EXIT.failed : EXIT.ok;
}

async function measure(claimed: Claimed, signal: AbortSignal): Promise<Leftover> {
  const { gone, kind, path, branch, of } = claimed;
  if (gone || kind !== 'task' || of.live) return { claimed, unmerged: null, onBranch: false };
  const unmerged = await unmergedIn(path, of.state.target, signal).catch(() => null);
  return { claimed, unmerged, onBranch: branch !== null };
}

async function isWanted({ yes, force, json }: CleanupFlags): Promise<boolean> {
  if (yes === true || force === true) return true;
  if (process.stdin.isTTY !== true || json === true) {
    console.error('Nothing was removed. To do it: landfast cleanup --yes');
    return false;
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question('Remove them? [y/N] ');
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}

async function removeAll(
  repository: Repository,
  going: readonly Verdict[],
  claimed: readonly Claimed[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const { path } of going) {
    const one = claimed.find((each) => each.path === path);
    try {
      if (one === undefined) continue;
      await back(one, signal);
      await removeWorktree(repository.commonDir, path, signal);
      await rmdir(dirname(path)).catch(() => undefined); // Others are still in it.
      removed.push(path);
    } catch (error) {
      console.error(`landfast: ${path} is left: ${messageOf(error)}`);
    }
  }
  return removed;
}

/** What no branch holds gets a ref; looked at again, because somebody may have been there since. */
async function back({ path, kind, branch, of, task }: Claimed, signal: AbortSignal): Promise<void> {
  if (kind !== 'task' || task === null) return;
  const head = await headOf(path, signal);
  const target = of.state.target;
  const tip = target === null ? null : await tipOf(path, `refs/heads/${target}`, signal);
  const isHeld =
    head !== null &&
    (branch !== null || (tip !== null && (await isAncestor(path, head, tip, signal))));
  const ref = keptRef(of.run, `${task.spec.id}_${Date.now()}`);
  const message = `Left in the workspace of ${task.spec.id}`;
  await keepWork(path, { ref, message, ...(isHeld ? { beyond: head } : {}) }, signal);
}

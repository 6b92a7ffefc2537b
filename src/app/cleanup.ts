/**
 * What runs have left, what of it may go, and its removal.
 *
 *   L1. Nothing is removed before its work is reachable from a ref, whatever is asked for.
 *   L2. No agent works in a removed workspace: one that outlived its engine is ended first.
 */

import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, OperationalError, otherwise } from '../base/errors.ts';
import { headOf, isAncestor, readRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { unmergedIn } from '../git/status.ts';
import { removeWorktree } from '../git/worktree.ts';
import type { Database } from '../journal/database.ts';
import { keptRef } from '../model/names.ts';
import { endMarked } from '../process/process-tree.ts';
import type { Leftover, MeasuredWorkspace, Verdict } from '../report/cleanup.ts';
import { planLeftovers, planPooled, planWorkspaces } from '../report/cleanup.ts';
import type { Claimed, Pooled } from '../report/workspaces.ts';
import { keepWork } from '../workspace/keep.ts';
import { removePooled } from './pooling.ts';
import { pooled, runsOf, survey } from './survey.ts';
import type { TracesOf } from './traces.ts';
import { findTraces, removeTrace } from './traces.ts';

/** Which leftovers are meant. */
export interface CleanupScope {
  readonly now: number;
  /** Also what is in no commit, and branches whose changes have landed. */
  readonly all: boolean;
  readonly olderThanMs: number;
  /** Only those of this run; null for all. */
  readonly run: string | null;
}

/** Looks at everything that runs have left and decides what may go. */
export async function findLeftovers(
  repository: Repository,
  db: Database | null,
  scope: CleanupScope,
  signal: AbortSignal,
): Promise<Found> {
  const claimed = await survey(repository, db, signal);
  const measured = await Promise.all(claimed.map((each) => measure(each, signal)));
  const spaces = planWorkspaces(measured, scope);
  const going = new Set(spaces.filter(({ remove }) => remove).map(({ path }) => path));
  const of = { repository, runs: db === null ? [] : runsOf(db, repository), going };
  const traces = await findTraces(of, signal);
  const waiting = pooled(repository);
  const verdicts = [...spaces, ...planPooled(waiting, scope), ...planLeftovers(traces, scope)];
  return { verdicts, of, claimed, waiting, traces };
}

async function measure(claimed: Claimed, signal: AbortSignal): Promise<MeasuredWorkspace> {
  const { gone, kind, path, branch, of } = claimed;
  if (gone || kind !== 'task' || of.live) return { claimed, unmerged: null, onBranch: false };
  const unmerged = await unmergedIn(path, of.state.target, signal).catch(otherwise(null));
  return { claimed, unmerged, onBranch: branch !== null };
}

/** What there is to clean up, and what is decided about each. */
export interface Found {
  readonly verdicts: readonly Verdict[];
  readonly of: TracesOf;
  readonly claimed: readonly Claimed[];
  readonly waiting: readonly Pooled[];
  readonly traces: readonly Leftover[];
}

/** Workspaces first: their branches are free then. */
export async function removeAll(
  meant: readonly Verdict[],
  found: Found,
  warn: (text: string) => void,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  const removed: Verdict[] = [];
  for (const verdict of meant) {
    try {
      if (await removeOne(verdict, found, signal)) removed.push(verdict);
      else warn(`${verdict.path} was left alone: it changed in the meantime.`);
    } catch (error) {
      warn(`${verdict.path} is left: ${messageOf(error)}`);
    }
  }
  return removed;
}

async function removeOne(
  { kind, path }: Verdict,
  { of, claimed, waiting, traces }: Found,
  signal: AbortSignal,
): Promise<boolean> {
  if (kind !== 'workspace') {
    const trace = traces.find((each) => each.kind === kind && each.path === path);
    return trace !== undefined && removeTrace(of, trace, signal);
  }
  const idle = waiting.find((each) => each.path === path);
  if (idle !== undefined) return removePooled(of.repository, idle, signal);
  const one = claimed.find((each) => each.path === path);
  if (one === undefined) return false;
  await endAgents(one.of.run, signal);
  await back(one, signal);
  const { commonDir } = of.repository;
  await removeWorktree(commonDir, path, signal);
  // The folder of the run and that of all runs, unless others are still in them.
  for (const each of [dirname(path), dirname(dirname(path))]) {
    await rmdir(each).catch(otherwise(undefined));
  }
  return true;
}

/** Ends what a dead engine left running; a run with a live engine keeps its workspaces. */
async function endAgents(run: string, signal: AbortSignal): Promise<void> {
  const left = await endMarked(`${run}/`, signal);
  if (left.length === 0) return;
  const pids = left.map(({ pid }) => pid).join(', ');
  throw new OperationalError(`processes of its run could not be ended: ${pids}`);
}

/** Puts work that no branch holds under a ref; it may have changed since it was measured. */
async function back({ path, kind, branch, of, task }: Claimed, signal: AbortSignal): Promise<void> {
  if (kind !== 'task' || task === null) return;
  const head = await headOf(path, signal);
  const target = of.state.target;
  const tip = target === null ? null : await readRef(path, `refs/heads/${target}`, signal);
  const isHeld =
    head !== null &&
    (branch !== null || (tip !== null && (await isAncestor(path, head, tip, signal))));
  const ref = keptRef(of.run, `${task.spec.id}_${Date.now()}`);
  const message = `Left in the workspace of ${task.spec.id}`;
  await keepWork(path, { ref, message, ...(isHeld ? { beyond: head } : {}) }, signal);
}

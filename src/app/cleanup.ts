/**
 * What runs have left, what of it may go (the rules: report/cleanup.ts), and its removal. Nothing
 * is removed before its work is reachable from a ref. An agent that outlived its engine is ended
 * first.
 */

import { existsSync, readdirSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, OperationalError, otherwise } from '../base/errors.ts';
import { branchesIn, refHolding } from '../git/branches.ts';
import { ownLocks } from '../git/locks.ts';
import { deleteRef, headOf, isAncestor, readRef, updateRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { unmergedIn } from '../git/status.ts';
import { listWorktrees, removeWorktree } from '../git/worktree.ts';
import { openForReading } from '../journal/database.ts';
import { attemptsDir } from '../journal/transcript.ts';
import { keptRef, runBranch, taskBranch } from '../model/names.ts';
import { endMarked } from '../process/process-tree.ts';
import { scratchFolders } from '../process/scratch.ts';
import type { Leftover, MeasuredWorkspace, Verdict } from '../report/cleanup.ts';
import { planLeftovers, planPooled, planWorkspaces } from '../report/cleanup.ts';
import type { Claimed, Pooled, RunPlace } from '../report/workspaces.ts';
import { keepWork } from '../workspace/keep.ts';
import { type Place, requireRepository } from './place.ts';
import { removePooled } from './pooling.ts';
import { isLive, type RunView } from './runs.ts';
import { send } from './steer.ts';
import { pooled, runsOf, survey } from './survey.ts';

export interface CleanupScope {
  readonly now: number;
  /** Also what is in no commit, and branches whose changes have landed. */
  readonly all: boolean;
  readonly olderThanMs: number;
  /** Only those of this run; null for all. */
  readonly run: string | null;
}

export async function findLeftovers(
  place: Place,
  scope: CleanupScope,
  signal: AbortSignal,
): Promise<Found> {
  const repository = requireRepository(place);
  using db = openForReading(place.stateDir);
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

export interface Found {
  readonly verdicts: readonly Verdict[];
  readonly of: TracesOf;
  readonly claimed: readonly Claimed[];
  readonly waiting: readonly Pooled[];
  readonly traces: readonly Leftover[];
}

const LOOK_MS = 100;
const PATIENCE_MS = 120_000;

/** Cancels a live run whose things are in the way, and returns when its engine has ended. */
export async function endRun(view: RunView, signal: AbortSignal): Promise<void> {
  const { place, run } = view;
  await send(view, { kind: 'stop', mode: 'cancel', why: 'Cancelled by landfast cleanup.' });
  const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  using db = openForReading(place.stateDir);
  while (db !== null && isLive(db, run)) {
    if (patience.aborted) {
      throw new OperationalError(`Run ${run} is cancelled, but its engine has not ended yet.`, {
        remedy: 'See what it does: landfast status',
      });
    }
    await sleep(LOOK_MS);
  }
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

interface TracesOf {
  readonly repository: Repository;
  /** The newest first. */
  readonly runs: readonly RunPlace[];
  /** Workspaces that go, too. */
  readonly going: ReadonlySet<string>;
}

async function findTraces(of: TracesOf, signal: AbortSignal): Promise<readonly Leftover[]> {
  const { repository, runs } = of;
  const { locks, busy } = await ownLocks(repository, signal);
  const worktrees = await listWorktrees(repository, signal);
  const known = new Set(worktrees.map(({ path }) => path));
  const used = new Map(worktrees.map(({ branch, path }) => [branch, path]));
  return [
    ...(await branchesOf(of, used, signal)),
    ...runs.flatMap((run) => foldersOf(run, known)),
    ...runs.flatMap((run): readonly Leftover[] => {
      const data = dirname(attemptsDir(repository.stateDir, run.run));
      const scratch = run.live ? [] : scratchFolders(run.run);
      return [
        ...(existsSync(data) ? [{ kind: 'data', path: data, of: run } as const] : []),
        ...scratch.map((path) => ({ kind: 'scratch', path, of: run }) as const),
      ];
    }),
    ...locks.map((path) => ({ kind: 'lock', path, busy }) as const),
  ];
}

/** Removes one; false where it has changed since it was looked at. */
async function removeTrace(
  { repository }: TracesOf,
  trace: Leftover,
  signal: AbortSignal,
): Promise<boolean> {
  if (trace.kind !== 'branch') {
    await rm(trace.path, { recursive: true, force: true });
    return true;
  }
  const { commonDir } = repository;
  const { path, task, of, landedAs } = trace;
  const ref = `refs/heads/${path}`;
  const tip = await readRef(commonDir, ref, signal);
  if (tip === null) return false;
  if ((await holderOf(repository, tip, of, signal)) === null) {
    const work = task === null ? null : (of.state.tasks.get(task)?.work ?? null);
    if (landedAs === null || tip !== work) return false;
    const backup = keptRef(of.run, `${task}_${Date.now()}`);
    const change = await updateRef(commonDir, backup, { to: tip, from: null }, signal);
    if (change.kind === 'lost') return false;
  }
  return (await deleteRef(commonDir, ref, tip, signal)).kind === 'moved';
}

/** Branches of runs and of their tasks; each belongs to the newest run that names one so. */
async function branchesOf(
  { repository, runs, going }: TracesOf,
  used: ReadonlyMap<string | null, string>,
  signal: AbortSignal,
): Promise<readonly Leftover[]> {
  const branches = await branchesIn(repository.commonDir, signal);
  const tips = new Map(branches.map(({ name, tip }) => [name, tip]));
  const traces = new Map<string, Leftover>();
  for (const of of runs) {
    for (const { name, task, work, isNamed, landed, bases } of namesOf(of)) {
      const tip = tips.get(name);
      // Any other name than ours may be a branch of the user's: only the work itself tells, or
      // that there is none.
      const isEmpty = !isNamed && tip !== undefined && bases.some((base) => base === tip);
      const isOurs = (name.startsWith('landfast/') && !isNamed) || tip === work || isEmpty;
      if (tip === undefined || !isOurs || name === of.state.target || traces.has(name)) continue;
      const place = used.get(name) ?? null;
      const isThere = landed !== null && (await holderOf(repository, landed, of, signal)) !== null;
      traces.set(name, {
        ...{ kind: 'branch', path: name, of, task, isNamed },
        heldBy: await holderOf(repository, tip, of, signal),
        landedAs: isThere && tip === work ? landed : null,
        usedBy: place === null || going.has(place) ? null : place,
      });
    }
  }
  return [...traces.values()];
}

function namesOf({ run, state }: RunPlace) {
  return [
    { name: runBranch(run), task: null, work: null, isNamed: false, landed: null, bases: [] },
    ...[...state.tasks.values()].map(({ spec, status, work, attempts }) => ({
      name: taskBranch(state.plan.conventions, run, spec),
      ...{ task: spec.id, work },
      isNamed: spec.branch !== undefined || status.kind === 'delivered',
      landed: status.kind === 'landed' ? status.commit : null,
      bases: attempts.map(({ base }) => base),
    })),
  ];
}

/** The target, or a kept ref, that holds all of a commit. */
async function holderOf(
  { commonDir }: Repository,
  tip: string,
  { state }: RunPlace,
  signal: AbortSignal,
): Promise<string | null> {
  const target = state.target === null ? [] : [`refs/heads/${state.target}`];
  const ref = await refHolding(commonDir, tip, [...target, 'refs/landfast/kept'], signal);
  return ref?.replace(/^refs\/heads\//, '') ?? null;
}

/** Folders for gates, and of a removal that was cut short, unknown to git. */
function foldersOf(of: RunPlace, known: ReadonlySet<string>): readonly Leftover[] {
  if (of.live) return [];
  const inRun = namesIn(join(of.folder, of.run)).filter((path) => basename(path) === '.removed');
  return [...inRun, ...namesIn(of.gates)]
    .filter((path) => !known.has(path))
    .map((path) => ({ kind: 'folder', path, of }));
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

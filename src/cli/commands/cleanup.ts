/**
 * `landfast cleanup`: removes what runs have left, after showing what and why.
 *
 *   L1. Nothing is removed before its work is reachable from a ref, whatever the flags.
 *   L2. Without a terminal and without `--yes` it only lists.
 */

import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { messageOf } from '../../base/errors.ts';
import { headOf, isAncestor, readRef } from '../../git/refs.ts';
import { unmergedIn } from '../../git/unmerged.ts';
import { removeWorktree } from '../../git/worktree.ts';
import { type Database, openForReading } from '../../journal/database.ts';
import { listRuns } from '../../journal/log.ts';
import { keptRef } from '../../model/names.ts';
import {
  cleanupText,
  countKinds,
  type Leftover,
  planCleanup,
  planPooled,
  type Verdict,
} from '../../report/cleanup.ts';
import { jsonText } from '../../report/json.ts';
import { planTraces, type Trace } from '../../report/traces.ts';
import type { Claimed, Pooled } from '../../report/workspaces.ts';
import { keepWork } from '../../workspace/keep.ts';
import { endRun } from '../end-runs.ts';
import { isLive, runNamed } from '../find-run.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { removePooled } from '../pooling.ts';
import { pooled, requireRepository, runsOf, survey } from '../survey.ts';
import { findTraces, removeTrace, type TracesOf } from '../traces.ts';

export interface CleanupFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly olderThan?: number;
  readonly all?: boolean;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  /** End live runs first. */
  readonly cancel?: boolean;
}

const LIMIT_MS = 600_000;

/** Shows what can go, and removes it if that is wanted. */
export async function cleanup(flags: CleanupFlags): Promise<number> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const place = await findPlace(flags.projectDir, signal);
  const repository = requireRepository(place);
  using db = openForReading(place.stateDir);
  const run = flags.run === undefined || db === null ? null : runNamed(db, flags.run);
  if (db !== null && !(await endLive(db, run, flags, signal))) return EXIT.failed;
  const all = flags.all === true || flags.force === true;
  const wish = { now: Date.now(), all, olderThanMs: flags.olderThan ?? 0, run };
  const claimed = await survey(repository, db, signal);
  const leftovers = await Promise.all(claimed.map((each) => measure(each, signal)));
  const spaces = planCleanup(leftovers, wish);
  const going = new Set(spaces.filter(({ remove }) => remove).map(({ path }) => path));
  const of = { repository, runs: db === null ? [] : runsOf(db, repository), going };
  const traces = await findTraces(of, signal);
  const waiting = pooled(repository);
  const verdicts = [...spaces, ...planPooled(waiting, wish), ...planTraces(traces, wish)];
  if (flags.json !== true) process.stdout.write(cleanupText(verdicts));
  const meant = verdicts.filter(({ remove }) => remove);
  const wanted =
    meant.length > 0 && flags.dryRun !== true && (await isWanted(flags, 'Remove them?'));
  const removed = wanted ? await removeAll(meant, { of, claimed, waiting, traces }, signal) : [];
  if (flags.json === true) {
    process.stdout.write(jsonText({ verdicts, removed: removed.map(({ path }) => path) }));
  } else if (wanted) console.log(`Removed: ${countKinds(removed) || 'nothing'}.`);
  const missed = wanted && removed.length < meant.length;
  return missed || (all && verdicts.some(({ live }) => live)) ? EXIT.failed : EXIT.ok;
}

/** With `--cancel`, live runs are ended first; false where somebody was asked and said no. */
async function endLive(
  db: Database,
  only: string | null,
  flags: CleanupFlags,
  signal: AbortSignal,
): Promise<boolean> {
  if (flags.cancel !== true || flags.dryRun === true) return true;
  const live = listRuns(db)
    .map(({ run }) => run)
    .filter((run) => (only === null || run === only) && isLive(db, run));
  if (live.length === 0) return true;
  const names = live.join(', ');
  if (!(await isWanted(flags, `Cancel ${names}? Agents are ended, their work is kept.`)))
    return false;
  for (const run of live) {
    await endRun(flags.projectDir, run, signal);
    console.error(`Run ${run} has ended; its work is kept.`);
  }
  return true;
}

async function measure(claimed: Claimed, signal: AbortSignal): Promise<Leftover> {
  const { gone, kind, path, branch, of } = claimed;
  if (gone || kind !== 'task' || of.live) return { claimed, unmerged: null, onBranch: false };
  const unmerged = await unmergedIn(path, of.state.target, signal).catch(() => null);
  return { claimed, unmerged, onBranch: branch !== null };
}

async function isWanted({ yes, force, json }: CleanupFlags, question: string): Promise<boolean> {
  if (yes === true || force === true) return true;
  if (process.stdin.isTTY !== true || json === true) {
    console.error('Nothing was removed. To do it: landfast cleanup --yes');
    return false;
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question(`${question} [y/N] `);
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}

interface Found {
  readonly of: TracesOf;
  readonly claimed: readonly Claimed[];
  readonly waiting: readonly Pooled[];
  readonly traces: readonly Trace[];
}

/** Workspaces first: their branches are free then. */
async function removeAll(
  meant: readonly Verdict[],
  found: Found,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  const removed: Verdict[] = [];
  for (const verdict of meant) {
    try {
      if (await removeOne(verdict, found, signal)) removed.push(verdict);
      else console.error(`landfast: ${verdict.path} is left: it has changed meanwhile.`);
    } catch (error) {
      console.error(`landfast: ${verdict.path} is left: ${messageOf(error)}`);
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
  await back(one, signal);
  const { commonDir } = of.repository;
  await removeWorktree(commonDir, path, signal);
  // The folder of the run and that of all runs, unless others are still in them.
  for (const each of [dirname(path), dirname(dirname(path))]) {
    await rmdir(each).catch(() => undefined);
  }
  return true;
}

/** What no branch holds gets a ref; looked at again, because somebody may have been there since. */
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

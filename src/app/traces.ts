/** Finds what runs have left besides workspaces, and removes it (the rules: report/cleanup.ts). */

import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { git } from '../git/git.ts';
import { ownLocks } from '../git/locks.ts';
import { deleteRef, readRef, updateRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { listWorktrees } from '../git/worktree.ts';
import { attemptsDir } from '../journal/transcript.ts';
import { keptRef, runBranch, taskBranch } from '../model/names.ts';
import { scratchFolders } from '../process/scratch.ts';
import type { Leftover } from '../report/cleanup.ts';
import type { RunPlace } from '../report/workspaces.ts';

export interface TracesOf {
  readonly repository: Repository;
  /** The newest first. */
  readonly runs: readonly RunPlace[];
  /** Workspaces that go, too. */
  readonly going: ReadonlySet<string>;
}

/** Every trace of these runs. */
export async function findTraces(of: TracesOf, signal: AbortSignal): Promise<readonly Leftover[]> {
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
export async function removeTrace(
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
  const tips = await tipsIn(repository, signal);
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

async function tipsIn({ commonDir }: Repository, signal: AbortSignal) {
  const args = ['for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/heads'];
  const { stdout } = await git(commonDir, args, signal);
  const rows = stdout.split('\n').filter((line) => line !== '');
  return new Map(rows.map((line) => line.split(' ') as [string, string]));
}

/** The target, or a kept ref, that holds all of a commit. */
async function holderOf(
  { commonDir }: Repository,
  tip: string,
  { state }: RunPlace,
  signal: AbortSignal,
): Promise<string | null> {
  const target = state.target === null ? [] : [`refs/heads/${state.target}`];
  const where = [...target, 'refs/landfast/kept'];
  const args = ['for-each-ref', '--format=%(refname)', `--contains=${tip}`, ...where];
  const [first = ''] = (await git(commonDir, args, signal)).stdout.split('\n');
  return first === '' ? null : first.replace(/^refs\/heads\//, '');
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

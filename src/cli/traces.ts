/** Finds what runs have left besides workspaces, and removes it (the rules: report/traces.ts). */

import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { git } from '../git/git.ts';
import { ownLocks } from '../git/locks.ts';
import { deleteRef, readRef } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { listWorktrees } from '../git/worktree.ts';
import { attemptsDir } from '../journal/transcript.ts';
import { runBranch, taskBranch } from '../model/names.ts';
import { scratchFolders } from '../process/scratch.ts';
import type { Trace } from '../report/traces.ts';
import type { RunPlace } from '../report/workspaces.ts';

export interface TracesOf {
  readonly repository: Repository;
  /** The newest first. */
  readonly runs: readonly RunPlace[];
  /** Workspaces that go, too. */
  readonly going: ReadonlySet<string>;
}

/** Every trace of these runs. */
export async function findTraces(of: TracesOf, signal: AbortSignal): Promise<readonly Trace[]> {
  const { repository, runs } = of;
  const { locks, busy } = ownLocks(repository, signal);
  const worktrees = await listWorktrees(repository, signal);
  const known = new Set(worktrees.map(({ path }) => path));
  const used = new Map(worktrees.map(({ branch, path }) => [branch, path]));
  return [
    ...(await branchesOf(of, used, signal)),
    ...runs.flatMap((run) => foldersOf(run, known)),
    ...runs.flatMap((run): readonly Trace[] => {
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
  trace: Trace,
  signal: AbortSignal,
): Promise<boolean> {
  if (trace.kind !== 'branch') {
    await rm(trace.path, { recursive: true, force: true });
    return true;
  }
  const ref = `refs/heads/${trace.path}`;
  const tip = await readRef(repository.commonDir, ref, signal);
  if (tip === null || (await holderOf(repository, tip, trace.of, signal)) === null) return false;
  return (await deleteRef(repository.commonDir, ref, tip, signal)).kind === 'moved';
}

/** Branches of runs and of their tasks; each belongs to the newest run that names one so. */
async function branchesOf(
  { repository, runs, going }: TracesOf,
  used: ReadonlyMap<string | null, string>,
  signal: AbortSignal,
): Promise<readonly Trace[]> {
  const tips = await tipsIn(repository, signal);
  const traces = new Map<string, Trace>();
  for (const of of runs) {
    for (const { name, task, work } of namesOf(of)) {
      const tip = tips.get(name);
      // Any other name than ours may be a branch of the user's: only the work itself tells.
      const isOurs = name.startsWith('landfast/') || tip === work;
      if (tip === undefined || !isOurs || traces.has(name)) continue;
      const place = used.get(name) ?? null;
      traces.set(name, {
        ...{ kind: 'branch', path: name, of, task },
        heldBy: await holderOf(repository, tip, of, signal),
        usedBy: place === null || going.has(place) ? null : place,
      });
    }
  }
  return [...traces.values()];
}

function namesOf({ run, state }: RunPlace) {
  const tasks = [...state.tasks.values()].filter(
    ({ spec, status }) => spec.branch === undefined && status.kind !== 'delivered',
  );
  return [
    { name: runBranch(run), task: null, work: null },
    ...tasks.map(({ spec, work }) => {
      return { name: taskBranch(state.plan.conventions, run, spec), task: spec.id, work };
    }),
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
function foldersOf(of: RunPlace, known: ReadonlySet<string>): readonly Trace[] {
  const folder = join(of.folder, of.run);
  if (of.live || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^\.(gate-|removed$)/.test(name))
    .map((name) => join(folder, name))
    .filter((path) => !known.has(path))
    .map((path) => ({ kind: 'folder', path, of }));
}

/** The pool of a repository's workspaces, as its plan bounds it and this process claims from it. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../base/errors.ts';
import { Group } from '../base/group.ts';
import { refHolding } from '../git/branches.ts';
import { git } from '../git/git.ts';
import { headOf } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { removeWorktree } from '../git/worktree.ts';
import { keptRef } from '../model/names.ts';
import type { LimitsSpec, WorkspaceSpec } from '../model/plan.ts';
import type { PoolRow, PoolView, SeedRow } from '../report/pool.ts';
import type { Pooled } from '../report/workspaces.ts';
import { hide, poolFolder } from '../workspace/folders.ts';
import { keepWork } from '../workspace/keep.ts';
import { thisClaimOwner } from '../workspace/pool/claim-owner.ts';
import { isWhole } from '../workspace/pool/idle-worktrees.ts';
import { type Added, Pool } from '../workspace/pool/pool.ts';
import { safeWay } from '../workspace/seeds/copy-tree.ts';
import { Seeds } from '../workspace/seeds/seeds.ts';
import { loadConfiguration } from './config-files.ts';
import { type Place, requireRepository } from './place.ts';
import { pooled } from './survey.ts';

/** Work that waits to land keeps its workspace, so there are more of them than workers. */
const IDLE_PER_WORKER = 4;
/** Unless the user says otherwise, no more than these wait for a later run. */
const MOST_LATER = 16;
/** What of the disk that runs may take is left to those that wait. */
const DISK_SHARE = 0.25;

interface PooledBy {
  readonly repository: Repository;
  /** The run that puts workspaces there; absent for a command that only looks after them. */
  readonly run?: string;
  readonly plan: {
    readonly workspace: WorkspaceSpec;
    readonly limits: Pick<LimitsSpec, 'workers' | 'diskBytes'>;
  };
}

/** The pool that a plan's run shares with all runs of the repository. */
export function poolOf(of: PooledBy): Pool {
  const { limits, workspace } = of.plan;
  const { pool, poolDisk, keepFiles = [] } = workspace;
  const later = pool ?? Math.min(limits.workers, MOST_LATER);
  return new Pool({
    commonDir: of.repository.commonDir,
    folder: poolFolder(of),
    run: of.run ?? '',
    most: pool === 0 ? 0 : Math.max(later, IDLE_PER_WORKER * limits.workers),
    later,
    small: pool !== undefined,
    disk: poolDisk ?? (limits.diskBytes === undefined ? null : limits.diskBytes * DISK_SHARE),
    keepFiles,
    me: thisClaimOwner(),
  });
}

/** How many results of set-up are kept where the user does not say. */
const MOST_SEEDS = 4;

/** Where the results of set-up are kept for all runs of the repository, and how many of them. */
export function seedStore(of: PooledBy): Seeds {
  const { limits, workspace } = of.plan;
  const { seed = [], seedBy = 'auto', seedMost = MOST_SEEDS, seedDisk } = workspace;
  return new Seeds({
    folder: join(of.repository.stateDir, 'seeds'),
    temp: poolFolder(of),
    patterns: seed,
    by: safeWay(seedBy),
    most: seedMost,
    disk: seedDisk ?? (limits.diskBytes === undefined ? null : limits.diskBytes * DISK_SHARE),
    me: thisClaimOwner(),
  });
}

/** The seeds that a plan's run uses; none where it has no set-up, or does not say what that needs. */
export function seedsOf(of: PooledBy): { readonly seeds?: Seeds } {
  const { seed = [], setup, setupKey } = of.plan.workspace;
  const isWanted = seed.length > 0 && setup.length > 0 && setupKey.length > 0;
  return isWanted ? { seeds: seedStore(of) } : {};
}

/** Removes an idle workspace; anything put into it meanwhile is kept by a ref. */
export async function removePooled(
  { commonDir }: Repository,
  { path, state }: Pooled,
  signal: AbortSignal,
): Promise<boolean> {
  const limits = { most: 0, later: 0, small: false, disk: null, keepFiles: [] };
  const folder = dirname(path);
  const pool = new Pool({ commonDir, folder, run: '', ...limits, me: thisClaimOwner() });
  if (state === 'idle' && existsSync(join(path, '.git'))) {
    const ref = keptRef('pool', `${Date.now()}`);
    const head = await headOf(path, signal);
    const isHeld = head !== null && (await refHolding(path, head, [], signal)) !== null;
    const held = isHeld ? { beyond: head } : {};
    await git(path, ['checkout', '-q', '-f', '--detach'], signal);
    await keepWork(path, { ref, message: 'Left in a workspace of the pool', ...held }, signal);
    return (await pool.drain([path], signal)) === 1;
  }
  await removeWorktree(commonDir, path, signal);
  return true;
}

/** The pool and the seeds of a repository, outside of any run. */
export interface OpenedPool {
  readonly pool: Pool;
  readonly seeds: Seeds;
  readonly repository: Repository;
  readonly of: Parameters<typeof poolOf>[0];
}

/** The pool as the configuration bounds it; a plan may have bounds, and a folder, of its own. */
export function openPool(place: Place): OpenedPool {
  const repository = requireRepository(place);
  const { workspace = {}, limits = {}, worktree_dir } = loadConfiguration(place).config;
  const dir = (workspace.dir ?? worktree_dir)?.replace(/^~(?=\/|$)/, () => place.host.home);
  const spec: WorkspaceSpec = {
    setup: [],
    setupKey: [],
    copy: [],
    inject: [],
    ...(dir === undefined ? {} : { dir }),
    ...(workspace.pool === undefined ? {} : { pool: workspace.pool }),
    ...(workspace.pool_disk === undefined ? {} : { poolDisk: workspace.pool_disk }),
  };
  const bounds = {
    workers: limits.workers ?? DEFAULT_WORKERS,
    ...(limits.disk === undefined ? {} : { diskBytes: limits.disk }),
  };
  const of = { repository, plan: { workspace: spec, limits: bounds } };
  return { pool: poolOf(of), seeds: seedStore(of), repository, of };
}

/** As a native plan has it. */
const DEFAULT_WORKERS = 4;

export async function poolView(
  { pool, seeds, repository }: OpenedPool,
  signal: AbortSignal,
): Promise<PoolView> {
  const { folder, later, disk } = pool.place;
  const head = await headOf(repository.dir, signal);
  const now = Date.now();
  const idle = pool.idle().map(({ path, note }): PoolRow => {
    if (!isWhole(repository.commonDir, { path })) return unknown(path, 'broken');
    const { commit, files, bytes, at } = note;
    const idle_sec = Math.round((now - at) / 1000);
    return { path, state: 'idle', commit, at_head: commit === head, idle_sec, files, bytes };
  });
  const others = pooled(repository).filter(({ path }) => !idle.some((row) => row.path === path));
  const claimed = others.map(({ path, state }) =>
    unknown(path, state === 'claimed' ? 'claimed' : 'broken'),
  );
  const workspaces = [...idle, ...claimed];
  const bytes = workspaces.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
  return { folder, most: later, disk, bytes, workspaces, seeds: seedRows(seeds, now) };
}

function seedRows(seeds: Seeds, now: number): readonly SeedRow[] {
  const secondsSince = (at: number): number => Math.max(0, Math.round((now - at) / 1000));
  return seeds.list().map(({ name, paths, bytes, at, usedAt }) => ({
    path: join(seeds.place.folder, name),
    holds: paths,
    bytes,
    age_sec: secondsSince(at),
    unused_sec: secondsSince(usedAt),
  }));
}

function unknown(path: string, state: PoolRow['state']): PoolRow {
  return { path, state, commit: null, at_head: false, idle_sec: null, files: null, bytes: null };
}

/** Makes workspaces at the current head until `wanted` wait; tells how many were missing and made. */
export async function warmPool(
  { pool, repository, of }: OpenedPool,
  wanted: number | undefined,
  onMade: (made: number, missing: number) => void,
  signal: AbortSignal,
): Promise<{ readonly missing: number; readonly made: number; readonly why: Added }> {
  const { later, most } = pool.place;
  if (most === 0) {
    const remedy = `To turn it on: landfast config workspace.pool ${wanted ?? DEFAULT_WORKERS}`;
    throw new UserError('The pool is off: workspace.pool is 0.', remedy);
  }
  if (wanted !== undefined && wanted > most) {
    const remedy = `For more: landfast config workspace.pool ${wanted}`;
    throw new UserError(`There is room for ${most} workspaces.`, remedy);
  }
  const head = await headOf(repository.dir, signal);
  if (head === null) {
    const remedy = 'Commit something first; a workspace holds the files of a commit.';
    throw new UserError('The repository has no commits yet: there is nothing to prepare.', remedy);
  }
  const missing = Math.max(0, (wanted ?? later) - pool.idle().length);
  if (missing > 0) await hide(of, [], signal);
  const report = (made: number): void => onMade(made, missing);
  return { missing, ...(await makeAll(pool, { head, missing }, report, signal)) };
}

/** Removes what waits, and what dead processes have left. */
export async function drainPool(
  { pool, seeds: store }: OpenedPool,
  signal: AbortSignal,
): Promise<{ readonly removed: number; readonly seeds: number }> {
  const idle = pool.idle().map(({ path }) => path);
  return { removed: await pool.drain(idle, signal), seeds: await store.drain(signal) };
}

/** Registering is one at a time; filling the files keeps a disk busy with a few. */
const AT_ONCE = 4;

async function makeAll(
  pool: Pool,
  order: { readonly head: string; readonly missing: number },
  onMade: (made: number) => void,
  signal: AbortSignal,
): Promise<{ readonly made: number; readonly why: Added }> {
  let [begun, made] = [0, 0];
  let why: Added = 'added';
  const group = new Group(signal);
  const work = async (running: AbortSignal): Promise<void> => {
    while (begun < order.missing) {
      begun += 1;
      const added = await pool.add(order.head, running);
      if (added !== 'added') {
        why = added;
        return;
      }
      made += 1;
      onMade(made);
    }
  };
  for (let each = 0; each < AT_ONCE; each += 1) group.start(work);
  await group.settle();
  return { made, why };
}

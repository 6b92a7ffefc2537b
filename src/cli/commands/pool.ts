/**
 * `landfast pool`: the workspaces that wait for a task: shows them, makes some ahead of a run, or
 * lets them go.
 */

import { homedir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../base/errors.ts';
import { Group } from '../../base/group.ts';
import { headOf } from '../../git/refs.ts';
import type { Repository } from '../../git/repository.ts';
import type { WorkspaceSpec } from '../../model/plan.ts';
import { count } from '../../report/format.ts';
import { jsonText } from '../../report/json.ts';
import {
  type PoolRow,
  type PoolView,
  poolText,
  type SeedRow,
  sizeText,
} from '../../report/pool.ts';
import { hide } from '../../workspace/hide.ts';
import { isWhole } from '../../workspace/idle.ts';
import type { Added, Pool } from '../../workspace/pool.ts';
import type { Seeds } from '../../workspace/seeds.ts';
import { loadConfiguration } from '../config-files.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { poolOf, seedStore } from '../pooling.ts';
import { pooled, requireRepository } from '../survey.ts';

export interface PoolFlags {
  readonly projectDir: string;
  readonly json?: boolean;
}

const LIMIT_MS = 30 * 60_000;
/** Registering is one at a time; filling the files keeps a disk busy with a few. */
const AT_ONCE = 4;

/** Shows what waits. */
export async function status(flags: PoolFlags): Promise<number> {
  show(await viewOf(await open(flags)), flags);
  return EXIT.ok;
}

/** Makes as many as are missing for `wanted`, at the current head. */
export async function warm(wanted: number | undefined, flags: PoolFlags): Promise<number> {
  const opened = await open(flags);
  const { pool, repository, signal } = opened;
  const { later, most } = pool.place;
  if (most === 0) {
    throw new UserError(
      'The pool is off: workspace.pool is 0.',
      `To turn it on: landfast config workspace.pool ${wanted ?? DEFAULT_WORKERS}`,
    );
  }
  if (wanted !== undefined && wanted > most) {
    throw new UserError(
      `There is room for ${most} workspaces.`,
      `For more: landfast config workspace.pool ${wanted}`,
    );
  }
  const head = await headOf(repository.dir, signal);
  if (head === null) {
    throw new UserError(
      'Nothing is committed yet: there is nothing to fill in.',
      'Commit something first; a workspace holds the files of a commit.',
    );
  }
  const there = pool.idle().length;
  const missing = Math.max(0, (wanted ?? later) - there);
  if (missing > 0) await hide(opened.of, [], signal);
  const order = { head, missing, quiet: flags.json === true };
  const { made, why } = await makeAll(pool, order, signal);
  show(await viewOf(opened), flags);
  if (made === missing || why === 'added') return EXIT.ok;
  const [reason, remedy] = refusal(pool, why);
  const lacking = count(missing - made, 'workspace');
  console.error(`landfast: ${lacking} could not be kept ready: ${reason}.\n  ${remedy}`);
  return EXIT.failed;
}

/** Why there is none that waits, and what to do about it. */
function refusal(
  { place: { disk, commonDir } }: Pool,
  why: Exclude<Added, 'added'>,
): readonly [string, string] {
  const instead = 'A run makes new workspaces instead';
  switch (why) {
    case 'own-settings':
      return [
        `new worktrees of this repository begin with settings of its own`,
        `${instead}, as long as config.worktree or info/sparse-checkout is in ${commonDir}.`,
      ];
    case 'submodules':
      return ['one with submodules is never used twice', `${instead}; there is nothing to do.`];
    case 'disk':
      return [
        `they may take ${sizeText(disk ?? 0)} of the disk`,
        'For more, such as 20 GB: landfast config workspace.pool_disk 20GB',
      ];
    case 'full':
      return ['all places are taken meanwhile', '`landfast pool status` shows by what.'];
  }
}

/** Removes what waits, and what dead processes have left. */
export async function drain(flags: PoolFlags): Promise<number> {
  const { pool, seeds: store, signal } = await open(flags);
  const idle = pool.idle().map(({ path }) => path);
  const removed = await pool.drain(idle, signal);
  const seeds = await store.drain(signal);
  if (flags.json === true) process.stdout.write(jsonText({ removed, seeds }));
  else console.log(`Removed: ${count(removed, 'workspace')}, ${count(seeds, 'seed')}.`);
  return EXIT.ok;
}

async function makeAll(
  pool: Pool,
  order: { readonly head: string; readonly missing: number; readonly quiet: boolean },
  signal: AbortSignal,
): Promise<{ readonly made: number; readonly why: Added }> {
  let [begun, made] = [0, 0];
  let why: Added = 'added';
  const group = new Group(signal);
  const work = async (running: AbortSignal): Promise<void> => {
    while (begun < order.missing) {
      begun += 1;
      const added = await pool.add(order.head, running);
      if (added !== 'added') why = added;
      if (added !== 'added') return;
      made += 1;
      if (!order.quiet) console.error(`${made} of ${order.missing}`);
    }
  };
  for (let each = 0; each < AT_ONCE; each += 1) group.start(work);
  await group.settle();
  return { made, why };
}

interface Opened {
  readonly pool: Pool;
  readonly seeds: Seeds;
  readonly repository: Repository;
  readonly of: Parameters<typeof poolOf>[0];
  readonly signal: AbortSignal;
}

/** The pool as the configuration bounds it; a plan may have bounds, and a folder, of its own. */
async function open({ projectDir }: PoolFlags): Promise<Opened> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const place = await findPlace(projectDir, signal);
  const repository = requireRepository(place);
  const configuration = loadConfiguration(place.dir);
  if (configuration === null) throw new UserError('The configuration cannot be used.');
  const { workspace = {}, limits = {}, worktree_dir } = configuration.config;
  const dir = (workspace.dir ?? worktree_dir)?.replace(/^~(?=\/|$)/, () => homedir());
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
  return { pool: poolOf(of), seeds: seedStore(of), repository, of, signal };
}

/** As a native plan has it. */
const DEFAULT_WORKERS = 4;

async function viewOf({ pool, seeds, repository, signal }: Opened): Promise<PoolView> {
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
  const claimed = others.map(({ path, state }): PoolRow => {
    return unknown(path, state === 'claimed' ? 'claimed' : 'broken');
  });
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

function show(view: PoolView, { json }: PoolFlags): void {
  process.stdout.write(json === true ? jsonText(view) : poolText(view));
}

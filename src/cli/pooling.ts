/** The pool of a repository's workspaces, as its plan bounds it and this process claims from it. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { git, type Sha } from '../git/git.ts';
import { headOf } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import { removeWorktree } from '../git/worktree.ts';
import { isAlive, type Owner, thisHost, thisProcess } from '../journal/lease.ts';
import { keptRef } from '../model/names.ts';
import type { LimitsSpec, WorkspaceSpec } from '../model/plan.ts';
import type { Pooled } from '../report/workspaces.ts';
import type { Claimant } from '../workspace/claimant.ts';
import { poolFolder } from '../workspace/ground.ts';
import { keepWork } from '../workspace/keep.ts';
import { Pool } from '../workspace/pool.ts';
import { Seeds } from '../workspace/seeds.ts';

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
    me: thisClaimant(),
  });
}

/** How many results of set-up are kept where the user does not say. */
const MOST_SEEDS = 4;

/** Where the results of set-up are kept for all runs of the repository, and how many of them. */
export function seedStore(of: PooledBy): Seeds {
  const { limits, workspace } = of.plan;
  const { seed = [], seedBy = 'auto', seedMost = MOST_SEEDS, seedDisk } = workspace;
  // Nobody is kept from writing to a file that is linked if he is root.
  const isRoot = process.getuid?.() === 0;
  return new Seeds({
    folder: join(of.repository.stateDir, 'seeds'),
    temp: poolFolder(of),
    patterns: seed,
    by: seedBy === 'link' && isRoot ? 'auto' : seedBy,
    most: seedMost,
    disk: seedDisk ?? (limits.diskBytes === undefined ? null : limits.diskBytes * DISK_SHARE),
    me: thisClaimant(),
  });
}

/** The seeds that a plan's run uses; none where it has no set-up, or does not say what that needs. */
export function seedsOf(of: PooledBy): { readonly seeds?: Seeds } {
  const { seed = [], setup, setupKey } = of.plan.workspace;
  const isWanted = seed.length > 0 && setup.length > 0 && setupKey.length > 0;
  return isWanted ? { seeds: seedStore(of) } : {};
}

/** Removes a workspace that waits; what somebody has put into it is kept by a ref. */
export async function removePooled(
  { commonDir }: Repository,
  { path, state }: Pooled,
  signal: AbortSignal,
): Promise<boolean> {
  const limits = { most: 0, later: 0, small: false, disk: null, keepFiles: [] };
  const folder = dirname(path);
  const pool = new Pool({ commonDir, folder, run: '', ...limits, me: thisClaimant() });
  if (state === 'idle' && existsSync(join(path, '.git'))) {
    const ref = keptRef('pool', `${Date.now()}`);
    const beyond = await heldHead(path, signal);
    const held = beyond === null ? {} : { beyond };
    await git(path, ['checkout', '-q', '-f', '--detach'], signal);
    await keepWork(path, { ref, message: 'Left in a workspace of the pool', ...held }, signal);
    return (await pool.drain([path], signal)) === 1;
  }
  await removeWorktree(commonDir, path, signal);
  return true;
}

/** The commit that a worktree is at, if a branch or another ref holds it. */
async function heldHead(path: string, signal: AbortSignal): Promise<Sha | null> {
  const head = await headOf(path, signal);
  if (head === null) return null;
  const args = ['for-each-ref', '--count=1', `--contains=${head}`];
  return (await git(path, args, signal)).stdout === '' ? null : head;
}

/** A workspace is in somebody's hands for seconds; where the repository is huge, for minutes. */
const LEFT_BEHIND_MS = 60 * 60_000;

/** This process, by pid and start: a later one with the same pid is not mistaken for it. */
export function thisClaimant(): Claimant {
  return {
    name: Buffer.from(JSON.stringify(thisProcess())).toString('base64url'),
    isAlive: (name, touchedAt) => {
      const owner = ownerNamed(name);
      if (owner === null) return false; // Nobody of ours has written that.
      if (owner.host === thisHost()) return isAlive(owner);
      // A time that is to come tells no more than one that is long past.
      return Math.abs(Date.now() - touchedAt()) < LEFT_BEHIND_MS;
    },
  };
}

function ownerNamed(name: string): Owner | null {
  try {
    return JSON.parse(Buffer.from(name, 'base64url').toString()) as Owner;
  } catch {
    return null;
  }
}

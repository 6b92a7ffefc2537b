/** The workspaces of a repository and whose they are: journals and git's list, read together. */

import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { OperationalError } from '../base/errors.ts';
import { realOf } from '../git/git-dir.ts';
import { isFloor, mendOverlays } from '../git/overlay.ts';
import type { Repository } from '../git/repository.ts';
import { listWorktrees } from '../git/worktree.ts';
import type { Database } from '../journal/database.ts';
import { listRuns } from '../journal/log.ts';
import {
  type Claimed,
  claim,
  type Listed,
  type Pooled,
  type RunPlace,
} from '../report/workspaces.ts';
import { isPoolFolder, workspacesFolder } from '../workspace/ground.ts';
import { claimantOf, isTrusted, readIdle } from '../workspace/idle.ts';
import { isLive } from './find-run.ts';
import type { Place } from './place.ts';
import { stateOfClaim } from './pooling.ts';
import { readState } from './watch-run.ts';

/** The repository of a place, without which there are no workspaces. */
export function requireRepository({ repository, dir }: Place): Repository {
  if (repository !== null) return repository;
  throw new OperationalError(`${dir} is not in a git repository.`, {
    remedy: 'Only there runs have workspaces; use -C DIR.',
  });
}

/** Every workspace that a run accounts for. */
export async function survey(
  repository: Repository,
  db: Database | null,
  signal: AbortSignal,
): Promise<readonly Claimed[]> {
  const { commonDir } = repository;
  const isFree = (owner: string): boolean => db === null || !isLive(db, owner.replace(/\/.*/, ''));
  for (const { dir, why } of await mendOverlays(commonDir, isFree, signal)) {
    console.error(`landfast: ${dir} is empty, because it cannot be mounted: ${why}`);
  }
  const runs = db === null ? [] : runsOf(db, repository);
  const claimed = claim(await listedIn(repository, signal), runs);
  return claimed.filter(({ path }) => !isFloor(commonDir, path)); // It goes with what is above it.
}

/** Every workspace of the repository that is in a pool, as git lists them. */
export async function pooled(
  { commonDir }: Repository,
  signal: AbortSignal,
): Promise<readonly Pooled[]> {
  const listed = await listWorktrees({ commonDir }, signal);
  const found = listed.map(async ({ path }): Promise<Pooled | null> => {
    const name = basename(path);
    if (!isPoolFolder(dirname(path), commonDir)) return null;
    if (!existsSync(path)) return { path, state: 'gone', since: null };
    if (/^[1-9]\d*$/.test(name)) return waiting(path);
    const owner = claimantOf(name);
    if (owner === null) return null;
    return { path, state: stateOfClaim(commonDir, { path, owner }), since: null };
  });
  return (await Promise.all(found)).filter((one) => one !== null);
}

async function waiting(path: string): Promise<Pooled> {
  const note = readIdle(path);
  const isSound = note !== null && (await isTrusted(path, path, note));
  return { path, state: isSound ? 'idle' : 'broken', since: note?.at ?? null };
}

/** Every run and where its workspaces are, the newest first. */
export function runsOf(db: Database, repository: Repository): readonly RunPlace[] {
  return listRuns(db).map(({ run }) => {
    const state = readState(db, run);
    const folder = realOf(workspacesFolder({ repository, plan: state.plan }));
    return { run, state, live: isLive(db, run), folder };
  });
}

async function listedIn(repository: Repository, signal: AbortSignal): Promise<readonly Listed[]> {
  const all = await listWorktrees(repository, signal);
  // Git may know a path by another name than the journal, where links lead to it.
  return all.map(({ path, branch, prunable, locked }) => {
    return { path: realOf(path), branch, gone: prunable || !existsSync(path), locked };
  });
}

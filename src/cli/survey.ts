/** The workspaces of a repository and whose they are: journals and git's list, read together. */

import { existsSync } from 'node:fs';
import { OperationalError } from '../base/errors.ts';
import { realOf } from '../git/git-dir.ts';
import type { Repository } from '../git/repository.ts';
import { listWorktrees } from '../git/worktree.ts';
import { entriesIn, placeTold } from '../git/worktree-link.ts';
import type { Database } from '../journal/database.ts';
import { listRuns } from '../journal/log.ts';
import {
  type Claimed,
  claim,
  type Listed,
  type Pooled,
  type RunPlace,
} from '../report/workspaces.ts';
import { workspacesFolder } from '../workspace/ground.ts';
import { waitingState } from '../workspace/idle.ts';
import { isLive } from './find-run.ts';
import type { Place } from './place.ts';
import { thisClaimant } from './pooling.ts';
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
  const runs = db === null ? [] : runsOf(db, repository);
  const waiting = new Set(pooled(repository).map(({ path }) => realOf(path)));
  const listed = await listedIn(repository, signal);
  return claim(
    listed.filter(({ path }) => !waiting.has(path)),
    runs,
  );
}

/** Every workspace of the repository that waits for a task, or is just being taken for one. */
export function pooled({ commonDir }: Repository): readonly Pooled[] {
  const me = thisClaimant();
  return entriesIn(commonDir).flatMap((entry): readonly Pooled[] => {
    const path = placeTold(entry);
    const state = path === null ? null : waitingState(path, entry, me);
    return path === null || state === null ? [] : [{ path, ...state }];
  });
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

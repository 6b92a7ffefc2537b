/** The workspaces of a repository and whose they are: journals and git's list, read together. */

import { existsSync } from 'node:fs';
import { otherwise } from '../base/errors.ts';
import { entriesIn, placeTold, realOf } from '../git/git-dir.ts';
import type { Repository } from '../git/repository.ts';
import { unmergedIn } from '../git/status.ts';
import { listWorktrees } from '../git/worktree.ts';
import { type Database, openForReading } from '../journal/database.ts';
import { listRuns } from '../journal/journal.ts';
import {
  type Claimed,
  claim,
  type Listed,
  type Pooled,
  pooledRow,
  type RunPlace,
  type Unmerged,
  type WorkspaceRow,
  workspaceRow,
} from '../report/workspaces.ts';
import { gatesFolder, workspacesFolder } from '../workspace/folders.ts';
import { thisClaimOwner } from '../workspace/pool/claim-owner.ts';
import { idleState } from '../workspace/pool/idle-worktrees.ts';
import { type Place, requireRepository } from './place.ts';
import { isLive, readState } from './runs.ts';

/** All workspaces as a list shows them: those that runs account for, and those that wait. */
export async function workspaceRows(
  place: Place,
  signal: AbortSignal,
): Promise<readonly WorkspaceRow[]> {
  const repository = requireRepository(place);
  using db = openForReading(place.stateDir);
  const claimed = await survey(repository, db, signal);
  const used = await Promise.all(
    claimed.map(async (one) => workspaceRow(one, await unmergedOf(one, signal))),
  );
  return [...used, ...pooled(repository).map(pooledRow)];
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
  const me = thisClaimOwner();
  return entriesIn(commonDir).flatMap((entry): readonly Pooled[] => {
    const path = placeTold(entry);
    const state = path === null ? null : idleState(path, entry, me);
    return path === null || state === null ? [] : [{ path, ...state }];
  });
}

/** Every run and where its workspaces are, the newest first. */
export function runsOf(db: Database, repository: Repository): readonly RunPlace[] {
  return listRuns(db).map(({ run }) => {
    const state = readState(db, run);
    const of = { repository, plan: state.plan, run };
    const [folder, gates] = [realOf(workspacesFolder(of)), realOf(gatesFolder(of))];
    return { run, state, live: isLive(db, run), folder, gates };
  });
}

async function listedIn(repository: Repository, signal: AbortSignal): Promise<readonly Listed[]> {
  const all = await listWorktrees(repository, signal);
  // Git may know a path by another name than the journal, where links lead to it.
  return all.map(({ path, branch, prunable, locked }) => {
    return { path: realOf(path), branch, gone: prunable || !existsSync(path), locked };
  });
}

/** Null where it cannot be said: the folder is not there, or an agent is breaking it just now. */
async function unmergedOf(
  { path, gone, kind, of }: Claimed,
  signal: AbortSignal,
): Promise<Unmerged | null> {
  if (gone || kind !== 'task') return null;
  return unmergedIn(path, of.state.target, signal).catch(otherwise(null));
}

/** `landfast worktrees`: the workspaces of this repository that runs have left or are using. */

import { existsSync, realpathSync } from 'node:fs';
import { OperationalError } from '../../base/errors.ts';
import type { Repository } from '../../git/repository.ts';
import { unmergedIn } from '../../git/unmerged.ts';
import { listWorktrees } from '../../git/worktree.ts';
import { type Database, openForReading } from '../../journal/database.ts';
import { listRuns } from '../../journal/log.ts';
import { jsonText } from '../../report/json.ts';
import {
  type Claimed,
  claim,
  type Listed,
  type RunPlace,
  type Unmerged,
  workspaceRow,
  workspacesText,
} from '../../report/workspaces.ts';
import { inkOf, wantsColor } from '../../ui/color.ts';
import { workspacesFolder } from '../../workspace/ground.ts';
import { isLive } from '../find-run.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { readState } from '../watch-run.ts';

const LOOK_LIMIT_MS = 60_000;

/** Lists the workspaces. */
export async function worktrees(flags: {
  readonly projectDir: string;
  readonly json?: boolean;
}): Promise<number> {
  const signal = AbortSignal.timeout(LOOK_LIMIT_MS);
  const { repository, stateDir, dir } = await findPlace(flags.projectDir, signal);
  if (repository === null) {
    throw new OperationalError(`${dir} is not in a git repository.`, {
      remedy: 'Only there runs have workspaces; use -C DIR.',
    });
  }
  using db = openForReading(stateDir);
  const runs = db === null ? [] : runsOf(db, repository);
  const claimed = claim(await listedIn(repository, signal), runs);
  const rows = await Promise.all(
    claimed.map(async (one) => workspaceRow(one, await measure(one, signal))),
  );
  if (flags.json === true) {
    process.stdout.write(jsonText(rows));
    return EXIT.ok;
  }
  const ink = inkOf(wantsColor(process.env, process.stdout.isTTY === true));
  process.stdout.write(workspacesText(rows, ink));
  return EXIT.ok;
}

function runsOf(db: Database, repository: Repository): readonly RunPlace[] {
  return listRuns(db).map(({ run }) => {
    const state = readState(db, run);
    const folder = real(workspacesFolder({ repository, plan: state.plan }));
    return { run, state, live: isLive(db, run), folder };
  });
}

async function listedIn(repository: Repository, signal: AbortSignal): Promise<readonly Listed[]> {
  const all = await listWorktrees(repository.commonDir, signal);
  return all.map(({ path, branch, prunable }) => {
    return { path: real(path), branch, gone: prunable || !existsSync(path) };
  });
}

/** Git may know a path by another name than the journal, where links lead to it. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Null where it cannot be said: the folder is not there, or an agent is breaking it just now. */
async function measure({ path, gone, kind, of }: Claimed, signal: AbortSignal) {
  if (gone || kind !== 'task') return null;
  return unmergedIn(path, of.state.target, signal).catch((): Unmerged | null => null);
}

/** `landfast worktrees`: the workspaces of this repository: of runs, and of the pool. */

import { unmergedIn } from '../../git/unmerged.ts';
import { openForReading } from '../../journal/database.ts';
import { jsonText } from '../../report/json.ts';
import {
  type Claimed,
  pooledRow,
  type Unmerged,
  workspaceRow,
  workspacesText,
} from '../../report/workspaces.ts';
import { inkOf, wantsColor } from '../../ui/color.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { pooled, requireRepository, survey } from '../survey.ts';

const LOOK_LIMIT_MS = 60_000;

/** Lists the workspaces. */
export async function worktrees(flags: {
  readonly projectDir: string;
  readonly json?: boolean;
}): Promise<number> {
  const signal = AbortSignal.timeout(LOOK_LIMIT_MS);
  const place = await findPlace(flags.projectDir, signal);
  const repository = requireRepository(place);
  using db = openForReading(place.stateDir);
  const claimed = await survey(repository, db, signal);
  const used = await Promise.all(
    claimed.map(async (one) => workspaceRow(one, await measure(one, signal))),
  );
  const rows = [...used, ...pooled(repository).map(pooledRow)];
  if (flags.json === true) {
    process.stdout.write(jsonText(rows));
    return EXIT.ok;
  }
  const ink = inkOf(wantsColor(process.env, process.stdout.isTTY === true));
  process.stdout.write(workspacesText(rows, ink));
  return EXIT.ok;
}

/** Null where it cannot be said: the folder is not there, or an agent is breaking it just now. */
async function measure({ path, gone, kind, of }: Claimed, signal: AbortSignal) {
  if (gone || kind !== 'task') return null;
  return unmergedIn(path, of.state.target, signal).catch((): Unmerged | null => null);
}

/** `landfast worktrees`: the workspaces of this repository: of runs, and of the pool. */

import { requireRepository } from '../../app/place.ts';
import { pooled, survey, unmergedOf } from '../../app/survey.ts';
import { openForReading } from '../../journal/database.ts';
import { jsonText } from '../../report/json.ts';
import { pooledRow, workspaceRow, workspacesText } from '../../report/workspaces.ts';
import { inkOf, wantsColor } from '../../tui/styled-text.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('worktrees')
    .description('workspaces in use or left behind, and what to do about them')
    .option('--json', 'print JSON')
    .action(wrap((_, command: Program) => worktrees(command.optsWithGlobals())));
}

const LOOK_LIMIT_MS = 60_000;

/** Lists the workspaces. */
export async function worktrees(flags: {
  readonly projectDir: string;
  readonly json?: boolean;
}): Promise<number> {
  const signal = AbortSignal.timeout(LOOK_LIMIT_MS);
  const place = await placeAt(flags.projectDir, signal);
  const repository = requireRepository(place);
  using db = openForReading(place.stateDir);
  const claimed = await survey(repository, db, signal);
  const used = await Promise.all(
    claimed.map(async (one) => workspaceRow(one, await unmergedOf(one, signal))),
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

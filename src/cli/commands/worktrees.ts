/** `landfast worktrees`: the workspaces of this repository: of runs, and of the pool. */

import { workspaceRows } from '../../app/survey.ts';
import { workspacesText } from '../../report/workspaces.ts';
import { EXIT } from '../exit.ts';
import type { CommonFlags, Program, Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';
import { outputInk, printJson } from '../terminal/output.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('worktrees')
    .description('workspaces in use or left behind, and what to do about them')
    .option('--json', 'print JSON')
    .action(wrap((_, command: Program) => worktrees(command.optsWithGlobals())));
}

const LOOK_LIMIT_MS = 60_000;

async function worktrees(flags: CommonFlags): Promise<number> {
  const signal = AbortSignal.timeout(LOOK_LIMIT_MS);
  const place = await placeAt(flags.projectDir, signal);
  const rows = await workspaceRows(place, signal);
  if (flags.json === true) printJson(rows);
  else process.stdout.write(workspacesText(rows, outputInk()));
  return EXIT.ok;
}

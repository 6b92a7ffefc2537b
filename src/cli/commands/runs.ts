/** `landfast runs`: all runs of the repository, the newest first. */

import { allRuns } from '../../app/runs.ts';
import { runRow, runsText } from '../../report/status.ts';
import { EXIT } from '../exit.ts';
import type { CommonFlags, Program, Wrap } from '../options.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { dayAndTime, outputInk, printJson, tellNoRun } from '../terminal/output.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('runs')
    .description('all runs of this repository')
    .option('--json', 'print JSON')
    .action(wrap((_, command: Program) => runs(command.optsWithGlobals())));
}

async function runs(flags: CommonFlags): Promise<number> {
  const found = allRuns(await placeAt(flags.projectDir, NEVER));
  if (found.length === 0) return tellNoRun(flags, []);
  const rows = found.map(({ state, run }) => runRow(state, run));
  if (flags.json === true) printJson(rows);
  else process.stdout.write(runsText(rows, { time: dayAndTime, ink: outputInk() }));
  return EXIT.ok;
}

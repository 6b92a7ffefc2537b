/** `landfast collect`: the results of a run, from any process, now or when it has ended. */

import { type RunView, viewRun } from '../../app/runs.ts';
import { resultsJson, resultsText } from '../../report/results.ts';
import { EXIT } from '../exit.ts';
import type { CommonFlags, Program, Wrap } from '../options.ts';
import { followHere, tellAbandoned } from '../terminal/following.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { outputInk, printJson, tellNoRun } from '../terminal/output.ts';
import { openScreen } from '../terminal/screen.ts';
import { runExitCode } from '../terminal/signals.ts';
import { INTERRUPTED, sayLeft } from './attach.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('collect')
    .argument('[run]', 'run id or prefix (default: the live run, else the latest)')
    .description('show the results of finished tasks and the last words of their agents')
    .option('-w, --wait', 'wait for the run to end, then exit with its exit code')
    .option('--json', 'print JSON')
    .action(wrap((run, _, command: Program) => collect(run, command.optsWithGlobals())));
}

interface CollectFlags extends CommonFlags {
  readonly wait?: boolean;
}

/** Shows what is over; having waited, it ends with the exit code of the run. */
async function collect(prefix: string | undefined, flags: CollectFlags): Promise<number> {
  const view = viewRun(await placeAt(flags.projectDir, NEVER), prefix);
  if (view === null) return tellNoRun(flags);
  if (flags.wait !== true) {
    show(view, flags);
    return EXIT.ok;
  }
  const { place, run } = view;
  const quietly = { dashboard: false, events: false, quiet: false };
  const screen = openScreen({ run, before: null, ...quietly });
  const followed = await followHere(place, run, screen.recorded);
  tellAbandoned(followed, run);
  if (followed !== 'stopped') return show(viewRun(place, run)!, flags);
  sayLeft(run);
  return INTERRUPTED;
}

function show({ state, run, live }: RunView, { json }: CollectFlags): number {
  const info = { run, live, ink: outputInk() };
  if (json === true) printJson(resultsJson(state, info));
  else process.stdout.write(resultsText(state, info));
  return runExitCode(state);
}

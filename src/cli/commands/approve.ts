/**
 * `landfast approve`: publishes what has landed, where the plan asks for approval. The engine of a
 * live run is asked; a run without one is taken up for this.
 */

import { runToSteer, send } from '../../app/steer.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../exit.ts';
import { howToRun, type Program, type Wrap } from '../options.ts';
import type { HowToRun } from '../terminal/drive.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';
import { refuseAtStart, takeUp } from './resume.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  const described = program
    .command('approve')
    .argument('[run]', 'run id or prefix (default: the live run, else the latest)')
    .description('publish what has landed, where `land.publish: ask` waits for that')
    .option('--decline', "leave it on the run's branch instead")
    .option('--json', 'print JSON');
  howToRun(described).action(
    wrap((run, _, command: Program) => approve(run, command.optsWithGlobals())),
  );
}

interface ApproveFlags extends HowToRun {
  readonly decline?: boolean;
  readonly json?: boolean;
}

async function approve(prefix: string | undefined, flags: ApproveFlags): Promise<number> {
  const steered = runToSteer(await placeAt(flags.projectDir, new AbortController().signal), prefix);
  if (steered === null) return tellNoRun(flags);
  const { decline = false, ...how } = flags;
  const command = { kind: 'approve', publish: !decline } as const;
  if (!steered.live) return takeUp(steered, command, how);
  const { run } = steered;
  refuseAtStart(run, flags);
  await send(steered, command);
  if (flags.json === true) process.stdout.write(jsonText({ run, approved: !decline }));
  else console.log(`run ${run}: ${decline ? 'publishing is declined' : 'approved'}.`);
  return EXIT.ok;
}

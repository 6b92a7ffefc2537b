/**
 * `landfast approve`: publishes what has landed, where the plan asks for approval. The engine of a
 * live run is asked; a run without one is taken up for this.
 */

import { send } from '../../app/steer.ts';
import { howToRun, type Program, type Wrap } from '../options.ts';
import type { HowToRun } from '../terminal/drive.ts';
import { steer } from '../terminal/steering.ts';
import { refuseAtStart, takeUp } from './resume.ts';

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

function approve(run: string | undefined, flags: ApproveFlags): Promise<number> {
  const { decline = false, ...how } = flags;
  return steer({ ...flags, ...(run === undefined ? {} : { run }) }, async (view) => {
    const command = { kind: 'approve', publish: !decline } as const;
    if (!view.live) return await takeUp(view, command, how);
    refuseAtStart(view.run, flags);
    await send(view, command);
    const line = `run ${view.run}: ${decline ? 'publishing is declined' : 'approved'}.`;
    return { json: { approved: !decline }, lines: [line] };
  });
}

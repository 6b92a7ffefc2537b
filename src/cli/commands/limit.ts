/** `landfast limit`: sets limits of a live run; the others stay what they are. */

import { requireLive, send } from '../../app/steer.ts';
import { UserError } from '../../base/errors.ts';
import {
  type LimitFlags,
  limitsFrom,
  load,
  money,
  type Program,
  positive,
  size,
  type Wrap,
} from '../options.ts';
import { type SteerFlags, steer } from '../terminal/steering.ts';

export function describe(program: Program, wrap: Wrap): void {
  program
    .command('limit')
    .argument('[run]', 'run id or prefix (default: the live run, else the latest)')
    .description('set limits of a live run')
    .option('--max-workers <n>', 'run at most this many agents at a time', positive)
    .option('--gates <n>', 'verify at most this many candidates at a time', positive)
    .option('--budget <usd>', 'stop starting agents when so much is spent', money)
    .option('--disk-free <size>', 'start no agent while less is free on the disk', size)
    .option('--memory-per-attempt <size>', 'what an agent takes of the memory', size)
    .option('--load <n>', 'start no further agent above this load for each core', load)
    .option('--json', 'print JSON')
    .action(wrap((run, _, command: Program) => setLimits(run, command.optsWithGlobals())));
}

function setLimits(run: string | undefined, flags: LimitFlags & SteerFlags): Promise<number> {
  return steer({ ...flags, ...(run === undefined ? {} : { run }) }, async (view) => {
    const limits = limitsFrom(flags);
    if (Object.keys(limits).length === 0) {
      throw new UserError('No limit is given.', 'landfast limit --help lists them.');
    }
    requireLive(view);
    await send(view, { kind: 'limit', limits });
    const texts = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
    const line = `run ${view.run}: ${texts.join(', ')}. Running attempts are not ended.`;
    return { json: { limits }, lines: [line] };
  });
}

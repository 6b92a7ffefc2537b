/** `landfast pause`: a live run starts nothing new until `landfast resume`. */

import { jsonText } from '../../report/json.ts';
import { resumeCommand } from '../../report/remedy.ts';
import { EXIT } from '../main.ts';
import { requireLive, runToSteer, send } from '../steer.ts';

export interface PauseFlags {
  readonly projectDir: string;
  readonly suspend?: boolean;
  readonly json?: boolean;
}

/** Pauses the live run. */
export async function pause(prefix: string | undefined, flags: PauseFlags): Promise<number> {
  const steered = await runToSteer(flags.projectDir, prefix, new AbortController().signal);
  const { run } = steered;
  requireLive(steered);
  const suspend = flags.suspend === true;
  await send(steered, { kind: 'pause', suspend });
  if (flags.json === true) {
    process.stdout.write(jsonText({ run, paused: true, suspended: suspend }));
    return EXIT.ok;
  }
  const agents = suspend ? 'its agents are suspended' : 'its running agents go on';
  console.log(`run ${run} is paused: nothing new starts, ${agents}.`);
  console.log(`  Go on: ${resumeCommand(run)}`);
  return EXIT.ok;
}

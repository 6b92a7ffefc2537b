/**
 * `--detach`: the engine runs in its own process. A refused run is reported by the command that was
 * called, with the exit code it has without `--detach`.
 */

import { resolve } from 'node:path';
import { type EngineOrder, startDetached } from '../../app/detach.ts';
import type { Execution } from '../../app/execute.ts';
import { OperationalError, UserError } from '../../base/errors.ts';
import type { Exit } from '../../base/exit.ts';
import { shellWord } from '../../report/sanitize.ts';
import type { HowToRun } from './drive.ts';
import { untilInterrupted } from './following.ts';

/** What `landfast engine` reads. */
export type DetachedOrder = EngineOrder & { readonly how: HowToRun };

/** Refuses flags that show what a detached run does not show here. */
export function checkDetach({ detach: isDetached, events, dashboard }: HowToRun): void {
  if (isDetached !== true || (events !== true && dashboard !== true)) return;
  throw new UserError(
    `--detach prints nothing more here, so ${events === true ? '--events' : '--dashboard'} has no effect.`,
    'Leave it out, and look with: landfast attach, or landfast status --watch --json',
  );
}

export async function detach(execution: Execution, how: HowToRun): Promise<number> {
  const { detach: _detach, dashboard: _dashboard, ...shown } = how;
  const added = { how: { ...shown, projectDir: resolve(how.projectDir) } };
  const program = {
    file: process.execPath,
    args: [...process.execArgv, process.argv[1] ?? '', 'engine'],
    cwd: process.cwd(), // Paths in the order are relative to it.
    env: process.env,
  };
  const beginning = await untilInterrupted((signal) =>
    startDetached(execution, { program, added }, signal),
  );
  if (beginning.kind === 'begun') return told(execution.run, how);
  if (beginning.kind === 'stopped') return 130;
  return refused(execution.run, beginning.exit, beginning.said);
}

function told(run: string, how: HowToRun): number {
  const id = shellWord(run);
  if (how.quiet === true) {
    console.log(run);
    return 0;
  }
  console.log(`Run ${run} continues in the background.`);
  console.log(`  watch it:  landfast attach ${id}`);
  console.log(`  end it:    landfast cancel --run ${id}`);
  return 0;
}

function refused(run: string, exit: Exit, said: string): number {
  if (exit.kind === 'exited' && exit.code !== 0) {
    process.stderr.write(said);
    return exit.code;
  }
  const how = exit.kind === 'signalled' ? `was ended by ${exit.signal}` : 'ended';
  throw new OperationalError(`The engine of run ${run} ${how} before the run began.`, {
    remedy: said.trim() === '' ? 'Try it without --detach.' : `It said: ${said.trim()}`,
  });
}

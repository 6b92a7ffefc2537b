/** Commands that steer a run: they find it, act, and print what was granted. */

import { type RunView, viewRun } from '../../app/runs.ts';
import { EXIT } from '../exit.ts';
import type { CommonFlags } from '../options.ts';
import { NEVER, placeAt } from './host.ts';
import { printJson, tellNoRun } from './output.ts';

export interface SteerFlags extends CommonFlags {
  readonly run?: string;
}

/** What was granted: for programs, beside the run's id, and in words. */
export interface Granted {
  readonly json: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

/** Steers the run that is named; `act` may answer with an exit code instead. */
export async function steer(
  { projectDir, run, json }: SteerFlags,
  act: (view: RunView) => Promise<Granted | number>,
): Promise<number> {
  const view = viewRun(await placeAt(projectDir, NEVER), run);
  if (view === null) return tellNoRun({ ...(json && { json }) });
  const answer = await act(view);
  if (typeof answer === 'number') return answer;
  if (json === true) printJson({ run: view.run, ...answer.json });
  else for (const line of answer.lines) console.log(line);
  return EXIT.ok;
}

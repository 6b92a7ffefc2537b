/** A run as a second process sees it: folded entries, plus what its agents did last. */

import type { Database } from '../journal/database.ts';
import { readEntries } from '../journal/log.ts';
import { readTail } from '../journal/tail.ts';
import { attemptFiles, attemptsDir, parseTranscript } from '../journal/transcript.ts';
import { fold } from '../model/fold.ts';
import type { TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { actionOf } from '../report/action.ts';

const TAIL_BYTES = 32 * 1024;

/** The state of a run, from its journal. */
export function readState(db: Database, run: string): RunState {
  return fold(readEntries(db, run, 0));
}

/** What each running agent did last, from the end of its transcript. */
export async function lastActions(
  stateDir: string,
  run: string,
  state: RunState,
  signal: AbortSignal,
): Promise<ReadonlyMap<TaskId, string>> {
  const actions = new Map<TaskId, string>();
  const dir = attemptsDir(stateDir, run);
  for (const { spec, status, attempts } of state.tasks.values()) {
    if (status.kind !== 'running') continue;
    const file = attemptFiles(dir, spec.id, attempts.length).transcript;
    const { lines } = await readTail(file, TAIL_BYTES, signal);
    const said = parseTranscript(lines).map(({ event }) => actionOf(event));
    const last = said.findLast((action) => action !== null);
    if (last !== undefined && last !== null) actions.set(spec.id, last);
  }
  return actions;
}

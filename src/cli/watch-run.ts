/** A run as a second process sees it: folded entries, plus what its agents did last. */

import { statSync } from 'node:fs';
import type { Database } from '../journal/database.ts';
import { readEntries } from '../journal/log.ts';
import { readTail } from '../journal/tail.ts';
import { attemptFiles, attemptsDir, parseTranscript } from '../journal/transcript.ts';
import { fold } from '../model/fold.ts';
import type { TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { actionOf } from '../report/action.ts';
import { exitCodeOf } from '../report/summary.ts';
import { STALE_MS } from '../report/task-view.ts';
import { loadConfiguration } from './config-files.ts';
import type { Place } from './place.ts';
import { exitCodeFor } from './signals.ts';

const TAIL_BYTES = 32 * 1024;

/** The state of a run, from its journal. */
export function readState(db: Database, run: string): RunState {
  return fold(readEntries(db, run, 0));
}

/** The exit code of a run, as the process that drove it gave it. */
export function runExitCode(state: RunState): number {
  const { outcome, stopping } = state;
  const bySignal =
    outcome === 'interrupted' && stopping !== null ? exitCodeFor(stopping.why) : null;
  return bySignal ?? exitCodeOf(state);
}

/** What each running agent did last, from the end of its transcript. */
export async function lastActions(
  stateDir: string,
  run: string,
  state: RunState,
  signal: AbortSignal,
): Promise<ReadonlyMap<TaskId, string>> {
  const dir = attemptsDir(stateDir, run);
  const running = [...state.tasks.values()].filter(({ status }) => status.kind === 'running');
  const last = await Promise.all(
    running.map(async ({ spec, attempts }) => {
      const file = attemptFiles(dir, spec.id, attempts.length).transcript;
      const { lines } = await readTail(file, TAIL_BYTES, signal);
      return [spec.id, lastAction(lines)] as const;
    }),
  );
  return new Map(last.filter((each): each is [TaskId, string] => each[1] !== null));
}

/** When each running agent last printed anything, from the times of its files. */
export function lastHeard(
  stateDir: string,
  run: string,
  state: RunState,
): ReadonlyMap<TaskId, number> {
  const dir = attemptsDir(stateDir, run);
  const running = [...state.tasks.values()].filter(({ status }) => status.kind === 'running');
  return new Map(
    running.map(({ spec, attempts }) => {
      const files = Object.values(attemptFiles(dir, spec.id, attempts.length));
      const times = files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      return [spec.id, Math.max(...times)];
    }),
  );
}

/** How long an agent may be silent before it is called stale, here. */
export function staleAfter({ dir }: Pick<Place, 'dir'>): number {
  // What is wrong with the configuration is told by what depends on it; here one only looks.
  const configuration = loadConfiguration(dir, ['global', 'project'], () => undefined);
  return configuration?.config.stale_after ?? STALE_MS;
}

/** The newest line that says what is being done; the others need not be read. */
function lastAction(lines: readonly string[]): string | null {
  for (const line of lines.toReversed()) {
    const action = parseTranscript([line]).map(({ event }) => actionOf(event))[0] ?? null;
    if (action !== null) return action;
  }
  return null;
}

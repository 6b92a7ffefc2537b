/** Following a run that another process drives; Ctrl-C leaves it. */

import type { Place } from '../../app/place.ts';
import { type Followed, followRun } from '../../app/runs.ts';
import type { Entry } from '../../model/event.ts';
import { resumeCommand } from '../../report/remedy.ts';
import { untilSignalled } from './signals.ts';

/** Calls `follow` with a signal that Ctrl-C aborts. */
export function untilInterrupted<T>(follow: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return untilSignalled(['SIGINT'], 'once', follow);
}

/** Hands over the entries of a run until it is over, has no engine, or Ctrl-C is pressed. */
export function followHere(
  place: Place,
  run: string,
  onEntries: (entries: readonly Entry[]) => void,
): Promise<Followed> {
  return untilInterrupted((signal) => followRun(place, run, onEntries, signal));
}

/** Says it where a run was left by its engine. */
export function tellAbandoned(followed: Followed | 'missing', run: string): void {
  if (followed !== 'abandoned') return;
  console.error(`No engine is driving this run. Continue: ${resumeCommand(run)}`);
}

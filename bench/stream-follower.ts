/**
 * The second process of stream.ts: watches a run as `landfast status --watch` does, and writes down
 * when it saw what.
 *
 *   node bench/stream-follower.ts STATE_DIR RESULT_FILE
 *
 *   F1. It reads with the program's own functions: entries by `follow`; every FRAME_MS the state
 *       and what each running agent did last. It knows nothing that another process could not know.
 *   F2. A moment is taken after reading, when a frame could be drawn, never before.
 *   F3. It may start before the run, so that its own start is no delay; it ends with the run.
 */

import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastActions } from '../src/app/activity.ts';
import { readState } from '../src/app/runs.ts';
import { openForReading } from '../src/journal/database.ts';
import { follow } from '../src/journal/follow.ts';
import { findRun } from '../src/journal/journal.ts';
import type { Entry } from '../src/model/event.ts';
import type { TaskId } from '../src/model/plan.ts';

/** Everything it saw, in order. */
export interface Sightings {
  readonly run: string;
  readonly entries: readonly SeenEntry[];
  readonly frames: readonly Frame[];
}

/** An entry of the journal; moments are ms since 1970. */
export interface SeenEntry {
  readonly type: Entry['event']['type'];
  readonly task: TaskId | null;
  readonly recordedAt: number;
  readonly seenAt: number;
}

/** What status would have shown: the last action of each running agent. */
export interface Frame {
  readonly seenAt: number;
  readonly actions: Readonly<Record<TaskId, string>>;
}

/** As long as `landfast status --watch` waits between two frames. */
const FRAME_MS = 200;
const ARRIVAL_MS = 20;

const [stateDir, resultFile] = process.argv.slice(2);
if (stateDir === undefined || resultFile === undefined) throw new Error('two arguments, please');
await writeFile(resultFile, JSON.stringify(await watch(stateDir, new AbortController().signal)));

async function watch(dir: string, signal: AbortSignal): Promise<Sightings> {
  const run = await arrival(dir);
  const entries: SeenEntry[] = [];
  const over = new AbortController();
  const followed = (async () => {
    for await (const batch of follow(dir, run, 0, signal)) {
      const seenAt = Date.now();
      entries.push(...batch.map((entry) => seenEntry(entry, seenAt)));
    }
    over.abort();
  })();
  const frames: Frame[] = [];
  while (!over.signal.aborted) {
    frames.push(await look(dir, run, signal));
    await sleep(FRAME_MS, undefined, { signal: over.signal }).catch(() => {}); // It is over.
  }
  await followed;
  return { run, entries, frames };
}

/** The id of the run, as soon as there is one. */
async function arrival(dir: string): Promise<string> {
  for (;;) {
    using db = openForReading(dir);
    const found = db === null ? null : findRun(db, null);
    if (found?.kind === 'found') return found.run;
    await sleep(ARRIVAL_MS);
  }
}

async function look(dir: string, run: string, signal: AbortSignal): Promise<Frame> {
  using db = openForReading(dir);
  if (db === null) throw new Error('the journal has gone');
  const actions = await lastActions(dir, run, readState(db, run), signal);
  return { seenAt: Date.now(), actions: Object.fromEntries(actions) };
}

function seenEntry({ at, event }: Entry, seenAt: number): SeenEntry {
  const task = 'task' in event ? event.task : null;
  return { type: event.type, task, recordedAt: at, seenAt };
}

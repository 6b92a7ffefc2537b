/** A run as a second process sees it: folded entries, plus what its agents did last. */

import { statSync } from 'node:fs';
import { recover } from '../engine/recover.ts';
import type { Database } from '../journal/database.ts';
import { readEntries } from '../journal/journal.ts';
import { readTail } from '../journal/tail.ts';
import { attemptFiles, attemptsDir, parseTranscript } from '../journal/transcript.ts';
import type { Event } from '../model/event.ts';
import { apply, fold } from '../model/fold.ts';
import { type Plan, type TaskId, type TaskSpec, usesCheckout } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { actionOf, printedAction } from '../report/action.ts';
import { STALE_MS } from '../report/task-view.ts';
import { workspaceDir } from '../workspace/folders.ts';
import { isPlain } from './agents.ts';
import { loadConfiguration } from './config-files.ts';
import { isLive } from './find-run.ts';
import type { Place } from './place.ts';
import { ProblemsError } from './problems.ts';

const TAIL_BYTES = 32 * 1024;

/** The state of a run, from its journal; one whose engine died is told as interrupted. */
export function readState(db: Database, run: string): RunState {
  const live = isLive(db, run); // Asked first: an engine that ends now has recorded all it did.
  const state = fold(readEntries(db, run, 0));
  return live || state.outcome !== null ? state : cutOff(state);
}

/** What a dead engine did not come to say: nothing is under way any more. */
export function cutOff(left: RunState): RunState {
  let state = left;
  const add = (event: Event): void => {
    state = apply(state, { seq: state.seq + 1, at: state.at, event });
  };
  for (const fact of recover(state).facts) add(fact);
  for (const { task } of state.queue.toReversed()) {
    add({ type: 'merge.withdrawn', task, ahead: null, why: 'The engine was ended.' });
  }
  add({ type: 'run.finished', outcome: 'interrupted' });
  return state;
}

/** The folder that a task works in. */
export function folderOf(
  { repository, dir }: Place,
  { run, plan }: { readonly run: string; readonly plan: Plan },
  task: TaskSpec,
): string {
  const isAway = repository !== null && !usesCheckout(task);
  return isAway ? workspaceDir({ repository, run, plan }, task.id) : dir;
}

/** What each running task did last, from the end of what its attempt has written. */
export async function lastActions(
  stateDir: string,
  run: string,
  state: RunState,
  signal: AbortSignal,
): Promise<ReadonlyMap<TaskId, string>> {
  const dir = attemptsDir(stateDir, run);
  const running = [...state.tasks.values()].filter(({ status }) => status.kind === 'running');
  const last = await Promise.all(
    running.map(async (task) => {
      const files = attemptFiles(dir, task.spec.id, task.attempts.length);
      return [task.spec.id, await lastActionIn(newestFirst(task, files), signal)] as const;
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
export function staleAfter({ dir, host }: Pick<Place, 'dir' | 'host'>): number {
  try {
    // A wrong configuration is told by the commands that depend on it.
    const silent = { ...host, problem: () => undefined };
    return loadConfiguration({ dir, host: silent }).config.stale_after ?? STALE_MS;
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error;
    return STALE_MS;
  }
}

/** What tells what is being done: of an agent its transcript, of a script what it prints. */
interface Telling {
  readonly path: string;
  readonly read: (line: string) => string | null;
}

function newestFirst(
  { spec, attempts }: TaskState,
  files: ReturnType<typeof attemptFiles>,
): readonly Telling[] {
  const printsText = isPlain(attempts.at(-1)?.by.agent ?? spec.agent);
  const printed = [files.setup, files.checks, ...(printsText ? [files.stdout, files.stderr] : [])];
  const timeOf = ({ path }: Telling) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return [
    { path: files.transcript, read: transcriptAction },
    ...printed.map((path) => ({ path, read: printedAction })),
  ]
    .map((telling) => ({ ...telling, at: timeOf(telling) }))
    .sort((one, other) => other.at - one.at);
}

/** The newest line that says what is being done; the others need not be read. */
async function lastActionIn(
  telling: readonly Telling[],
  signal: AbortSignal,
): Promise<string | null> {
  for (const { path, read } of telling) {
    const { lines } = await readTail(path, TAIL_BYTES, signal);
    for (const line of lines.toReversed()) {
      const action = read(line);
      if (action !== null) return action;
    }
  }
  return null;
}

function transcriptAction(line: string): string | null {
  return parseTranscript([line]).map(({ event }) => actionOf(event))[0] ?? null;
}

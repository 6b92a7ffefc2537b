/** What the journal does not say of a live run: what its agents did last, and what its tasks wait for. */

import { statSync } from 'node:fs';
import { readTail } from '../journal/tail.ts';
import { attemptFiles, attemptsDir, parseTranscript } from '../journal/transcript.ts';
import type { TaskId } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { actionOf, printedAction } from '../report/action.ts';
import { STALE_MS, type ViewContext } from '../report/task-view.ts';
import { waitsOf } from '../schedule/decide.ts';
import { agentsKnown, isPlain } from './agents.ts';
import { loadConfiguration } from './config-files.ts';
import type { Place } from './place.ts';
import { ProblemsError } from './problems.ts';
import type { RunView } from './runs.ts';

const TAIL_BYTES = 32 * 1024;

/** What the tasks of a run do now, and since when nothing was heard of them. */
export async function activityIn(
  { place: { stateDir }, run, state }: RunView,
  { now, staleMs }: { readonly now: number; readonly staleMs: number },
  signal: AbortSignal,
): Promise<Required<Pick<ViewContext, 'now' | 'actions' | 'waits' | 'liveness'>>> {
  const actions = await lastActions(stateDir, run, state, signal);
  const liveness = { lastActivityAt: lastHeard(stateDir, run, state), staleMs };
  return { now, actions, waits: waitsIn(state, now), liveness };
}

/** What each task waits for that could start but for a limit. */
export function waitsIn(state: RunState, now: number): ReturnType<typeof waitsOf> {
  return waitsOf(state, now, agentsKnown);
}

/** What each running task did last, from the end of what its attempt has written. */
export async function lastActions(
  stateDir: string,
  run: string,
  state: RunState,
  signal: AbortSignal,
): Promise<ReadonlyMap<TaskId, string>> {
  const last = await Promise.all(
    runningIn(stateDir, run, state).map(async ({ task, files }) => {
      return [task.spec.id, await lastActionIn(newestFirst(task, files), signal)] as const;
    }),
  );
  return new Map(last.filter((each): each is [TaskId, string] => each[1] !== null));
}

/** When each running agent last printed anything, from the times of its files. */
function lastHeard(stateDir: string, run: string, state: RunState): ReadonlyMap<TaskId, number> {
  const heardAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return new Map(
    runningIn(stateDir, run, state).map(({ task, files }) => {
      return [task.spec.id, Math.max(...Object.values(files).map(heardAt))];
    }),
  );
}

function runningIn(stateDir: string, run: string, { tasks }: RunState) {
  const dir = attemptsDir(stateDir, run);
  return [...tasks.values()]
    .filter(({ status }) => status.kind === 'running')
    .map((task) => ({ task, files: attemptFiles(dir, task.spec.id, task.attempts.length) }));
}

/** How long an agent may be silent before it is called stale, here. */
export function staleAfter({ dir, host }: Pick<Place, 'dir' | 'host'>): number {
  try {
    // Commands that depend on the configuration report what is wrong with it.
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

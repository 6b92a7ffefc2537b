/**
 * Detached runs: the engine runs in its own process, and its starter leaves as soon as the
 * run has begun. What the engine refuses is read back from its log. The order travels through a
 * pipe, never through a file or an argument: it holds the plan's secrets.
 */

import { closeSync, openSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { trySystem } from '../base/errors.ts';
import type { Exit } from '../base/exit.ts';
import { makeFolders } from '../base/make-folders.ts';
import { pause } from '../base/pause.ts';
import { openDatabase } from '../journal/database.ts';
import { readEntries } from '../journal/journal.ts';
import { engineLog } from '../journal/transcript.ts';
import { fold } from '../model/fold.ts';
import { type Background, type Program, startInBackground } from '../process/spawn.ts';
import type { Execution } from './execute.ts';
import type { Place } from './place.ts';

/** The order of a detached engine, as JSON: an execution without what it opens itself. */
export type EngineOrder = Omit<Execution, 'place' | 'db' | 'before'>;

export type Beginning =
  | { readonly kind: 'begun' }
  /** With what the engine said. */
  | { readonly kind: 'ended'; readonly exit: Exit; readonly said: string }
  | { readonly kind: 'stopped' };

const POLL_MS = 50;

/** Answers when the run has begun, or cannot. The program reads the order and what is added. */
export async function startDetached(
  execution: Execution,
  { program, added }: { readonly program: Program; readonly added: object },
  signal: AbortSignal,
): Promise<Beginning> {
  const { place, db, before, ...order } = execution;
  using _db = db;
  const path = engineLog(place.stateDir, execution.run);
  makeFolders(dirname(path), 0o700);
  const log = openSync(path, 'a', 0o600);
  const from = statSync(path).size;
  try {
    const input = JSON.stringify({ ...order, ...added });
    const engine = await startInBackground(program, { input, log });
    const exit = await untilBegun(execution, engine, signal);
    if (signal.aborted) return { kind: 'stopped' };
    if (exit === null) return { kind: 'begun' };
    return { kind: 'ended', exit, said: takeBack(execution, path, from) };
  } finally {
    closeSync(log);
  }
}

export function orderedExecution(order: EngineOrder, place: Place): Execution {
  const db = openDatabase(place.stateDir);
  const before = order.started === null ? fold(readEntries(db, order.run, 0)) : null;
  return { ...order, place, db, before };
}

/** Null once the engine has recorded that the run begins or resumes; else how the engine ended. */
async function untilBegun(
  execution: Execution,
  engine: Background,
  signal: AbortSignal,
): Promise<Exit | null> {
  const over = new AbortController();
  const stop = (): void => engine.stop();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    await Promise.race([firstFact(execution, over.signal), engine.ended]);
    return !signal.aborted && hasBegun(execution) ? null : await engine.ended;
  } finally {
    signal.removeEventListener('abort', stop);
    over.abort('over');
    engine.leave();
  }
}

/** A resumed run may already have an end, so its entries are searched, not followed. */
async function firstFact(execution: Execution, signal: AbortSignal): Promise<void> {
  while (!hasBegun(execution) && !signal.aborted) await pause(POLL_MS, signal);
}

/** Another engine may be writing to a run that we wanted to resume: its facts are not ours. */
function hasBegun({ db, run, before }: Execution): boolean {
  return readEntries(db, run, before?.seq ?? 0).some(
    ({ event }) => event.type === 'run.started' || event.type === 'run.resumed',
  );
}

function takeBack({ before }: Execution, path: string, from: number): string {
  const said = readFileSync(path).subarray(from).toString('utf8');
  if (before === null) {
    rmSync(path, { force: true });
    trySystem(() => rmdirSync(dirname(path)), undefined); // Something else may be in there.
  }
  return said;
}

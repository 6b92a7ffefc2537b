/**
 * Detached runs: the engine goes on in a process of its own, and the command that started it ends
 * as soon as the run has begun.
 *
 *   D1. Whatever refuses a run is shown by the command that was called, with the exit code it has
 *       without `--detach`; what the engine itself refuses is read back from its log.
 *   D2. The order travels through a pipe, never through a file or an argument: it holds the plan's
 *       secrets.
 */

import { closeSync, openSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Execution } from '../app/execute.ts';
import { OperationalError, trySystem, UserError } from '../base/errors.ts';
import type { Exit } from '../base/exit.ts';
import { makeFolders } from '../base/make-folders.ts';
import { pause } from '../base/pause.ts';
import { readEntries } from '../journal/journal.ts';
import { engineLog } from '../journal/transcript.ts';
import type { Entry } from '../model/event.ts';
import { type Background, startInBackground } from '../process/spawn.ts';
import { shellWord } from '../report/sanitize.ts';
import type { HowToRun } from './terminal/drive.ts';
import { notIgnored } from './terminal/signals.ts';

/** What a detached engine is told, as JSON: an execution without what it opens itself. */
export interface EngineOrder extends Omit<Execution, 'place' | 'db' | 'before'> {
  readonly how: HowToRun;
}

const POLL_MS = 50;

/** Refuses flags that show what a detached run does not show here. */
export function checkDetach({ detach: isDetached, events, dashboard }: HowToRun): void {
  if (isDetached !== true || (events !== true && dashboard !== true)) return;
  throw new UserError(
    `--detach prints nothing more here, so ${events === true ? '--events' : '--dashboard'} has no effect.`,
    'Leave it out, and look with: landfast attach, or landfast status --watch --json',
  );
}

/** Starts the engine of a run in the background; answers when the run has begun, or cannot. */
export async function detach(execution: Execution, how: HowToRun): Promise<number> {
  const { place, run } = execution;
  const path = engineLog(place.stateDir, run);
  makeFolders(dirname(path), 0o700);
  const log = openSync(path, 'a', 0o600);
  const from = statSync(path).size;
  try {
    const engine = await startEngine(execution, how, log);
    const beginning = await untilBegun(execution, engine);
    if (beginning.kind === 'begun') return told(execution, how);
    if (beginning.kind === 'interrupted') return 130;
    return refused(execution, beginning.exit, takeBack(execution, path, from));
  } finally {
    closeSync(log);
  }
}

function startEngine(execution: Execution, how: HowToRun, log: number): Promise<Background> {
  const { place: _place, db: _db, before: _before, ...rest } = execution;
  const { detach: _detach, dashboard: _dashboard, ...shown } = how;
  const projectDir = resolve(how.projectDir);
  const order: EngineOrder = { ...rest, how: { ...shown, projectDir } };
  const program = {
    file: process.execPath,
    args: [...process.execArgv, process.argv[1] ?? '', 'engine'],
    cwd: process.cwd(), // Paths in the order are relative to it.
    env: process.env,
  };
  return startInBackground(program, { input: JSON.stringify(order), log });
}

type Beginning =
  | { readonly kind: 'begun' }
  | { readonly kind: 'ended'; readonly exit: Exit }
  | { readonly kind: 'interrupted' };

/** Until the engine has recorded that the run begins or goes on, or has ended without. */
async function untilBegun(execution: Execution, engine: Background): Promise<Beginning> {
  const over = new AbortController();
  let isInterrupted = false;
  const interrupt = (): void => {
    isInterrupted = true;
    engine.stop();
  };
  for (const name of notIgnored('SIGINT')) process.once(name, interrupt);
  try {
    await Promise.race([firstFact(execution, over.signal), engine.ended]);
    if (!isInterrupted && hasBegun(execution)) return { kind: 'begun' };
    const exit = await engine.ended;
    return isInterrupted ? { kind: 'interrupted' } : { kind: 'ended', exit };
  } finally {
    process.off('SIGINT', interrupt);
    over.abort('over');
    engine.leave();
  }
}

/** The run may have an end already, if it goes on: so its entries are looked for, not followed. */
async function firstFact(execution: Execution, signal: AbortSignal): Promise<void> {
  while (!hasBegun(execution) && !signal.aborted) {
    await pause(POLL_MS, signal);
  }
}

function hasBegun({ db, run, before }: Execution): boolean {
  return readEntries(db, run, before?.seq ?? 0).some(isBeginning);
}

/** Another engine may be writing to a run that we wanted to resume: its facts are not ours. */
function isBeginning({ event }: Entry): boolean {
  return event.type === 'run.started' || event.type === 'run.resumed';
}

function told({ run }: Execution, how: HowToRun): number {
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

/** What the engine said before it ended; of a run that never began nothing is left. */
function takeBack({ before }: Execution, path: string, from: number): string {
  const said = readFileSync(path).subarray(from).toString('utf8');
  if (before === null) {
    rmSync(path, { force: true });
    trySystem(() => rmdirSync(dirname(path)), undefined); // Something else may be in there.
  }
  return said;
}

function refused({ run }: Execution, exit: Exit, said: string): number {
  if (exit.kind === 'exited' && exit.code !== 0) {
    process.stderr.write(said);
    return exit.code;
  }
  const how = exit.kind === 'signalled' ? `was ended by ${exit.signal}` : 'ended';
  throw new OperationalError(`The engine of run ${run} ${how} before the run began.`, {
    remedy: said.trim() === '' ? 'Try it without --detach.' : `It said: ${said.trim()}`,
  });
}

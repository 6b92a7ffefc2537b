/** `landfast logs`: what a task's agent said and did, from its transcript. */

import { existsSync, statSync } from 'node:fs';
import { UserError } from '../../base/errors.ts';
import { openForReading } from '../../journal/database.ts';
import { follow } from '../../journal/follow.ts';
import { followFile, readTail } from '../../journal/tail.ts';
import { attemptFiles, attemptsDir, parseTranscript } from '../../journal/transcript.ts';
import { transcriptLine } from '../../report/transcript-line.ts';
import { agentNamed } from '../agents.ts';
import { isLive, noRun, runNamed } from '../find-run.ts';
import { Following } from '../live.ts';
import { EXIT } from '../main.ts';
import { findPlace, type Place } from '../place.ts';
import { readState } from '../watch-run.ts';

export interface LogsFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly attempt?: number;
  readonly follow?: boolean;
  readonly raw?: boolean;
  readonly json?: boolean;
}

/** Prints the transcript of a task's attempt, and goes on while it runs if asked to. */
export async function logs(task: string, flags: LogsFlags): Promise<number> {
  const place = await findPlace(flags.projectDir, new AbortController().signal);
  using db = openForReading(place.stateDir);
  if (db === null) throw noRun(flags.run);
  const run = runNamed(db, flags.run);
  const state = readState(db, run);
  const known = state.tasks.get(task);
  if (known === undefined) {
    const names = [...state.tasks.keys()].join(', ');
    throw new UserError(`Run ${run} has no task ${task}.`, `It has: ${names}.`);
  }
  const attempt = flags.attempt ?? Math.max(1, known.attempts.length);
  const live = isLive(db, run);
  if (known.attempts[attempt - 1] === undefined && !(flags.follow === true && live)) {
    throw new UserError(`Task ${task} has no attempt ${attempt} yet.`);
  }
  const files = attemptFiles(attemptsDir(place.stateDir, run), task, attempt);
  if (!live && !existsSync(attemptsDir(place.stateDir, run))) {
    console.error(`Nothing is kept of what was said in run ${run}: no word, or it was cleaned up.`);
  }
  using following = new Following(place.stateDir, run);
  const isRunning = live && known.attempts[attempt - 1]?.endedAt == null;
  const until =
    flags.follow === true && isRunning
      ? endOfAttempt(place, run, { task, attempt }, following.signal)
      : AbortSignal.abort();
  const raw =
    flags.raw === true ||
    agentNamed(known.attempts[attempt - 1]?.by.agent ?? known.spec.agent).can.plain === true;
  const paths = raw ? [files.stdout, files.stderr] : [files.transcript];
  await Promise.all(paths.map((path) => printLines(path, raw || flags.json === true, until)));
  return EXIT.ok;
}

/** What is there, what comes until the signal, and what came in the moment of the signal. */
async function printLines(path: string, asIs: boolean, until: AbortSignal): Promise<void> {
  let offset = 0;
  const print = (line: string): void => {
    offset += Buffer.byteLength(line) + 1;
    const text = asIs ? line : readable(line);
    if (text !== null) process.stdout.write(`${text}\n`);
  };
  for await (const line of followFile(path, 0, until)) print(line);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= offset) return;
  const { lines } = await readTail(path, size - offset, new AbortController().signal);
  for (const line of lines) print(line);
}

function readable(line: string): string | null {
  const [said] = parseTranscript([line]);
  return said === undefined ? null : transcriptLine(said.event);
}

/** Aborted when the journal says that the attempt is over. */
function endOfAttempt(
  place: Place,
  run: string,
  which: { readonly task: string; readonly attempt: number },
  signal: AbortSignal,
): AbortSignal {
  const over = new AbortController();
  const wait = async (): Promise<void> => {
    for await (const entries of follow(place.stateDir, run, 0, signal)) {
      const isEnd = entries.some(
        ({ event }) =>
          (event.type === 'attempt.finished' || event.type === 'attempt.failed') &&
          event.task === which.task &&
          event.attempt === which.attempt,
      );
      if (isEnd) break;
    }
  };
  wait().then(
    () => over.abort(),
    (error: unknown) => over.abort(error),
  );
  return over.signal;
}

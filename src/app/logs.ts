/** What was said and printed in a run: by an agent, before and after it, and by gates. */

import { existsSync, statSync } from 'node:fs';
import { UserError } from '../base/errors.ts';
import { gateLogFile } from '../journal/gate-log.ts';
import { followFile, readTail } from '../journal/tail.ts';
import { attemptFiles, attemptsDir, parseTranscript } from '../journal/transcript.ts';
import type { AroundName } from '../model/effect.ts';
import type { Entry } from '../model/event.ts';
import { usesCheckout } from '../model/plan.ts';
import type { TaskState } from '../model/state.ts';
import { type GateLook, GateLooks, type GateWish } from '../report/gate-looks.ts';
import { workspaceDir } from '../workspace/folders.ts';
import type { Place } from './place.ts';
import { entriesOf, type Followed, followRun, type RunView } from './runs.ts';

export interface AttemptOf {
  readonly view: RunView;
  readonly task: TaskState;
  readonly attempt: number;
}

/** Whether anything is kept of what was said in a run. */
export function hasLogs({ place, run }: RunView): boolean {
  return existsSync(attemptsDir(place.stateDir, run));
}

/**
 * Reads one of the logs of an attempt; with `follow`, also what comes until the attempt ends. Missing
 * is a log of which there is nothing to wait for.
 */
export async function readAttemptLog(
  { view, task, attempt }: AttemptOf,
  log: { readonly name: AroundName | 'raw' | 'transcript'; readonly follow: boolean },
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<Followed | 'missing'> {
  const { place, run, live } = view;
  const files = attemptFiles(attemptsDir(place.stateDir, run), task.spec.id, attempt);
  const paths = log.name === 'raw' ? [files.stdout, files.stderr] : [files[log.name]];
  const isRunning = live && task.attempts[attempt - 1]?.endedAt == null;
  if (!log.follow || !isRunning) {
    await Promise.all(paths.map((path) => readLines(path, onLine, AbortSignal.abort())));
    return paths.some((path) => existsSync(path)) ? 'over' : 'missing';
  }
  const over = new AbortController();
  const isEnd = ({ event }: Entry): boolean =>
    (event.type === 'attempt.finished' || event.type === 'attempt.failed') &&
    event.task === task.spec.id &&
    event.attempt === attempt;
  const onEntries = (entries: readonly Entry[]) => entries.some(isEnd) && 'enough';
  const followed = followRun(place, run, onEntries, signal).finally(() => over.abort());
  const reading = paths.map((path) => readLines(path, onLine, over.signal));
  const [end] = await Promise.all([followed, ...reading]);
  return end;
}

/** The line of a transcript as an event and its time; undefined where it is damaged. */
export function transcriptLine(
  line: string,
): ReturnType<typeof parseTranscript>[number] | undefined {
  return parseTranscript([line])[0];
}

export function folderOf({ place, run, state }: RunView, task: TaskState): string {
  const { repository, dir } = place;
  const isAway = repository !== null && !usesCheckout(task.spec);
  return isAway ? workspaceDir({ repository, run, plan: state.plan }, task.spec.id) : dir;
}

const TAIL_BYTES = 64 * 1024;

/** The last lines that the newest attempt of a task has printed. */
export async function lastLines(
  { stateDir }: Place,
  run: string,
  { spec, attempts }: TaskState,
  most: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { stdout } = attemptFiles(attemptsDir(stateDir, run), spec.id, attempts.length);
  return (await readTail(stdout, TAIL_BYTES, signal)).lines.slice(-most);
}

/** What is in a file, what comes until the signal, and what came in the moment of the signal. */
async function readLines(
  path: string,
  onLine: (line: string) => void,
  until: AbortSignal,
): Promise<void> {
  let offset = 0;
  const read = (line: string): void => {
    offset += Buffer.byteLength(line) + 1;
    onLine(line);
  };
  for await (const line of followFile(path, 0, until)) read(line);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= offset) return;
  const { lines } = await readTail(path, size - offset, new AbortController().signal);
  for (const line of lines) read(line);
}

export interface GateReader {
  /** What follows is of this one. */
  look(look: GateLook): void;
  line(line: string): void;
  /** Of this one only what the journal has is kept: what matters of a red gate. */
  unkept(look: GateLook): void;
}

/** Reads what gates have printed on the newest candidate that is meant. */
export async function readGateLogs(
  view: RunView,
  wish: GateWish,
  reader: GateReader,
): Promise<void> {
  const looks = new GateLooks(wish);
  for (const entry of entriesOf(view.place, view.run)) looks.add(entry);
  const found = looks.newest();
  if (found.length === 0) throw noGateLog(view, wish);
  for (const look of found) await readGateLog(view, look, reader, AbortSignal.abort());
}

/** The same, and what they print from now on, until there is a verdict on the candidate. */
export async function followGateLogs(
  view: RunView,
  wish: GateWish,
  reader: GateReader,
  signal: AbortSignal,
): Promise<Followed> {
  const looks = new GateLooks(wish);
  let reading: { readonly over: AbortController; readonly done: Promise<void> } | null = null;
  const end = async (): Promise<void> => {
    reading?.over.abort();
    await reading?.done;
    reading = null;
  };
  const begin = (look: GateLook): void => {
    const over = new AbortController();
    reading = { over, done: readGateLog(view, look, reader, over.signal) };
  };
  let isFirst = true;
  const onEntries = async (entries: readonly Entry[]) => {
    for (const entry of entries) {
      const look = looks.add(entry);
      if (isFirst) continue;
      if (entry.event.type === 'gate.started' && look !== null) begin(look);
      else if (look !== null || looks.isOver) await end();
      if (looks.isOver) return 'enough';
    }
    for (const look of isFirst ? looks.newest() : []) {
      if (look.isRunning) begin(look);
      else await readGateLog(view, look, reader, AbortSignal.abort());
    }
    isFirst = false;
    return looks.isOver && 'enough';
  };
  const followed = await followRun(view.place, view.run, onEntries, signal);
  await end();
  return followed;
}

async function readGateLog(
  { place, run }: RunView,
  look: GateLook,
  reader: GateReader,
  until: AbortSignal,
): Promise<void> {
  reader.look(look);
  const file = gateLogFile(place.stateDir, run, look);
  if (until.aborted && !existsSync(file)) reader.unkept(look);
  else await readLines(file, (line) => reader.line(line), until);
}

function noGateLog({ run, state }: RunView, { task, gate, candidate }: GateWish): UserError {
  const names = ['setup', ...state.plan.gates.map(({ name }) => name)];
  if (gate !== null && !names.includes(gate)) {
    return new UserError(`Run ${run} has no gate ${gate}.`, `It has: ${names.join(', ')}.`);
  }
  const what = gate === null ? 'No gate' : `Gate ${gate}`;
  const on = candidate === null ? (task ?? 'anything') : `a candidate ${candidate}`;
  const has = gate === null ? 'has run' : 'has not run';
  const remedy = 'landfast queue --explain says which gates had to run, and on what.';
  return new UserError(`${what} ${has} on ${on} in run ${run}.`, remedy);
}

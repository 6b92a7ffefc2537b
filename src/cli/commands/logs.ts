/** `landfast logs`: what a task's agent said and did, and what was printed around it. */

import { existsSync } from 'node:fs';
import { isPlain } from '../../app/agents.ts';
import { isLive, runNamed } from '../../app/find-run.ts';
import type { Place } from '../../app/place.ts';
import { folderOf, readState } from '../../app/watch-run.ts';
import { assert } from '../../base/assert.ts';
import { UserError } from '../../base/errors.ts';
import { type Database, openForReading } from '../../journal/database.ts';
import { follow } from '../../journal/follow.ts';
import { attemptFiles, attemptsDir, parseTranscript } from '../../journal/transcript.ts';
import type { AroundName } from '../../model/effect.ts';
import type { RunState, TaskState } from '../../model/state.ts';
import { clean } from '../../report/sanitize.ts';
import {
  attemptFooter,
  attemptHeader,
  type TranscriptView,
  transcriptText,
} from '../../report/transcript-text.ts';
import { widthOf } from '../../tui/styled-text.ts';
import { EXIT } from '../exit.ts';
import { type Program, positive, type Wrap } from '../options.ts';
import { Following } from '../terminal/following.ts';
import { placeAt } from '../terminal/host.ts';
import { tellNoRun } from '../terminal/no-run.ts';
import { printFile } from '../terminal/print-file.ts';
import { clock } from '../terminal/screen.ts';
import { followGates, printGates } from './gate-logs.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('logs')
    .argument('[task]', 'the task (optional with --candidate)')
    .description("what a task's agent said and did, or what its gates, checks and set-up printed")
    .option('-f, --follow', 'follow until the attempt or the gates end')
    .option('--run <run>', 'run id or prefix (default: the live run, else the latest)')
    .option('--attempt <n>', 'which attempt (default: the newest)', positive)
    .option('--gate [name]', 'what this gate, or every gate, printed on the newest candidate')
    .option('--candidate <commit>', 'with --gate: on this candidate (its commit or tree)')
    .option('--checks', "what the task's checks printed")
    .option('--setup', "what the workspace's set-up printed")
    .option('--prompt', 'the prompt the agent was given')
    .option('--raw', 'the raw output of the process')
    .option('--json', 'print the transcript as NDJSON')
    .action(wrap((task, _, command: Program) => logs(task, command.optsWithGlobals())));
}

export interface LogsFlags {
  readonly projectDir: string;
  readonly run?: string;
  readonly attempt?: number;
  readonly follow?: boolean;
  /** True for all gates. */
  readonly gate?: string | true;
  readonly candidate?: string;
  readonly checks?: boolean;
  readonly setup?: boolean;
  readonly prompt?: boolean;
  readonly raw?: boolean;
  readonly json?: boolean;
}

/** Prints what a task's attempt or gates said, and goes on while they run if asked to. */
export async function logs(task: string | undefined, flags: LogsFlags): Promise<number> {
  const place = await placeAt(flags.projectDir, new AbortController().signal);
  using db = openForReading(place.stateDir);
  const run = runNamed(db, flags.run, place);
  if (db === null || run === null) return tellNoRun(flags);
  checkFlags(task, flags);
  const state = readState(db, run);
  const known = task === undefined ? undefined : state.tasks.get(task);
  if (task !== undefined && known === undefined) {
    const names = [...state.tasks.keys()].join(', ');
    throw new UserError(`Run ${run} has no task ${task}.`, `It has: ${names}.`);
  }
  if (flags.gate !== undefined) {
    const { gate, candidate = null, raw = false } = flags;
    const wish = { task: task ?? null, gate: gate === true ? null : gate, candidate, raw };
    const of = { place, run, plan: state.plan };
    const isFollowed = flags.follow === true && isLive(db, run);
    return await (isFollowed ? followGates(of, wish) : printGates(db, of, wish));
  }
  assert(known !== undefined, 'without a task a gate is asked for');
  return await attemptLogs(db, { place, run, state, task: known }, flags);
}

function checkFlags(task: string | undefined, flags: LogsFlags): void {
  const { gate, candidate } = flags;
  if (candidate !== undefined && gate === undefined) {
    throw new UserError('--candidate applies only to gates.', 'Add --gate, or --gate NAME.');
  }
  if (task === undefined && candidate === undefined) {
    throw new UserError('No task given.', 'landfast logs TASK, or logs --gate --candidate COMMIT.');
  }
  const kinds = (['gate', 'checks', 'setup', 'prompt', 'json'] as const).filter(
    (name) => flags[name] !== undefined,
  );
  if (kinds.length > 1) {
    const named = kinds.map((name) => `--${name}`).join(' and ');
    throw new UserError(`${named} are different logs.`, 'Choose one.');
  }
}

interface LogsOf {
  readonly place: Place;
  readonly run: string;
  readonly state: RunState;
  readonly task: TaskState;
}

/** What was said in one attempt. */
async function attemptLogs(db: Database, of: LogsOf, flags: LogsFlags): Promise<number> {
  const { place, run, task } = of;
  const { id } = task.spec;
  const number = flags.attempt ?? Math.max(1, task.attempts.length);
  const live = isLive(db, run);
  if (task.attempts[number - 1] === undefined && !(flags.follow === true && live)) {
    throw new UserError(`Task ${id} has no attempt ${number} yet.`);
  }
  const folder = attemptsDir(place.stateDir, run);
  if (!live && !existsSync(folder)) {
    console.error(`Nothing is kept of what was said in run ${run}: no word, or it was cleaned up.`);
  }
  using following = new Following(place.stateDir, run);
  const isRunning = live && task.attempts[number - 1]?.endedAt == null;
  const until =
    flags.follow === true && isRunning
      ? endOfAttempt(place, run, { task: id, attempt: number }, following.signal)
      : AbortSignal.abort();
  const files = attemptFiles(folder, id, number);
  const around = (['prompt', 'checks', 'setup'] as const).find((name) => flags[name] === true);
  if (around !== undefined) await printAround(around, files[around], { of, number, until });
  else if (flags.raw === true || flags.json === true) {
    const paths = flags.raw === true ? [files.stdout, files.stderr] : [files.transcript];
    await Promise.all(paths.map((path) => printFile(path, (line) => line, until)));
  } else await printReadable(db, of, { number, until });
  return EXIT.ok;
}

interface Which {
  readonly number: number;
  readonly until: AbortSignal;
}

/** The prompt, or the output of what ran before and after the agent. */
async function printAround(
  name: AroundName,
  file: string,
  { of, number, until }: Which & { readonly of: LogsOf },
): Promise<void> {
  if (until.aborted && !existsSync(file)) {
    const { id, prompt } = of.task.spec;
    if (name === 'prompt') process.stdout.write(`${prompt}\n`);
    else console.error(`No ${NAMES[name]} has printed anything in attempt ${number} of ${id}.`);
    return;
  }
  await printFile(file, name === 'prompt' ? (line) => line : clean, until);
}

const NAMES: Readonly<Record<Exclude<AroundName, 'prompt'>, string>> = {
  checks: 'check',
  setup: 'set-up command',
};

/** The attempt for people, below what it is and above how it ended. */
async function printReadable(db: Database, of: LogsOf, { number, until }: Which): Promise<void> {
  const { place, run, task } = of;
  const { id } = task.spec;
  const view = viewOf(of);
  const known = task.attempts[number - 1];
  if (known !== undefined) process.stdout.write(`${attemptHeader(task, known, view)}\n`);
  const files = attemptFiles(attemptsDir(place.stateDir, run), id, number);
  const printsText = isPlain(known?.by.agent ?? task.spec.agent);
  const paths = printsText ? [files.stdout, files.stderr] : [files.transcript];
  const show = printsText ? (line: string) => line : (line: string) => readable(line, view);
  await Promise.all(paths.map((path) => printFile(path, show, until)));
  const after = readState(db, run).tasks.get(id)?.attempts[number - 1];
  const footer = after === undefined ? null : attemptFooter(after, view);
  if (footer !== null) process.stdout.write(`${footer}\n`);
}

function viewOf({ place, run, state, task }: LogsOf): TranscriptView {
  const workspace = folderOf(place, { run, plan: state.plan }, task.spec);
  const { columns, isTTY } = process.stdout;
  return { clock, width: isTTY ? columns || 80 : Number.POSITIVE_INFINITY, widthOf, workspace };
}

function readable(line: string, view: TranscriptView): string | null {
  const [said] = parseTranscript([line]);
  return said === undefined ? null : transcriptText(said.at, said.event, view);
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

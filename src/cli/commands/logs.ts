/** `landfast logs`: what a task's agent said and did, and what was printed around it. */

import { isPlain } from '../../app/agents.ts';
import {
  type AttemptOf,
  folderOf,
  followGateLogs,
  type GateReader,
  hasLogs,
  readAttemptLog,
  readGateLogs,
  transcriptLine,
} from '../../app/logs.ts';
import { type RunView, viewRun } from '../../app/runs.ts';
import { assert } from '../../base/assert.ts';
import { UserError } from '../../base/errors.ts';
import type { TaskState } from '../../model/state.ts';
import { durationText, shortSha } from '../../report/format.ts';
import type { GateLook } from '../../report/gate-looks.ts';
import { clean } from '../../report/sanitize.ts';
import {
  attemptFooter,
  attemptHeader,
  type TranscriptView,
  transcriptText,
} from '../../report/transcript-text.ts';
import { widthOf } from '../../tui/styled-text.ts';
import { EXIT } from '../exit.ts';
import { type CommonFlags, type Program, positive, type Wrap } from '../options.ts';
import { tellAbandoned, untilInterrupted } from '../terminal/following.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { clock, tellNoRun } from '../terminal/output.ts';

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

interface LogsFlags extends CommonFlags {
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
}

/** Prints the output of a task's attempt or gates; with `--follow` until they end. */
async function logs(task: string | undefined, flags: LogsFlags): Promise<number> {
  const view = viewRun(await placeAt(flags.projectDir, NEVER), flags.run);
  if (view === null) return tellNoRun(flags);
  checkFlags(task, flags);
  const { run, state } = view;
  const known = task === undefined ? undefined : state.tasks.get(task);
  if (task !== undefined && known === undefined) {
    const names = [...state.tasks.keys()].join(', ');
    throw new UserError(`Run ${run} has no task ${task}.`, `It has: ${names}.`);
  }
  if (flags.gate !== undefined) return await gateLogs(view, task ?? null, flags);
  assert(known !== undefined, 'without a task a gate is asked for');
  return await attemptLogs(view, known, flags);
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

async function attemptLogs(view: RunView, task: TaskState, flags: LogsFlags): Promise<number> {
  const { run, live } = view;
  const { follow = false, attempt = Math.max(1, task.attempts.length) } = flags;
  if (task.attempts[attempt - 1] === undefined && !(follow && live)) {
    throw new UserError(`Task ${task.spec.id} has no attempt ${attempt} yet.`);
  }
  if (!live && !hasLogs(view)) {
    console.error(`Nothing is kept of what was said in run ${run}: no word, or it was cleaned up.`);
  }
  const of = { view, task, attempt };
  const around = (['prompt', 'checks', 'setup'] as const).find((name) => flags[name] === true);
  if (around !== undefined) await printAround(of, around, follow);
  else if (flags.raw === true) await printLog(of, { name: 'raw', follow }, (line) => line);
  else if (flags.json === true) await printLog(of, { name: 'transcript', follow }, (line) => line);
  else await printReadable(of, follow);
  return EXIT.ok;
}

/** Prints the lines of a log for which `show` has a text; false where nothing is kept of it. */
async function printLog(
  of: AttemptOf,
  log: Parameters<typeof readAttemptLog>[1],
  show: (line: string) => string | null,
): Promise<boolean> {
  const print = (line: string): void => {
    const text = show(line);
    if (text !== null) process.stdout.write(`${text}\n`);
  };
  const followed = await untilInterrupted((signal) => readAttemptLog(of, log, print, signal));
  tellAbandoned(followed, of.view.run);
  return followed !== 'missing';
}

/** The prompt, or the output of what ran before and after the agent. */
async function printAround(
  of: AttemptOf,
  name: keyof typeof NAMES,
  follow: boolean,
): Promise<void> {
  const show = name === 'prompt' ? (line: string) => line : clean;
  if (await printLog(of, { name, follow }, show)) return;
  const { id, prompt } = of.task.spec;
  if (name === 'prompt') process.stdout.write(`${prompt}\n`);
  else console.error(`No ${NAMES[name]} has printed anything in attempt ${of.attempt} of ${id}.`);
}

const NAMES = { prompt: 'prompt', checks: 'check', setup: 'set-up command' } as const;

/** The attempt for people, below what it is and above how it ended. */
async function printReadable(of: AttemptOf, follow: boolean): Promise<void> {
  const { view, task, attempt } = of;
  const shown = transcriptView(of);
  const known = task.attempts[attempt - 1];
  if (known !== undefined) process.stdout.write(`${attemptHeader(task, known, shown)}\n`);
  const name = isPlain(known?.by.agent ?? task.spec.agent) ? 'raw' : 'transcript';
  const show = (line: string) => (name === 'raw' ? line : readable(line, shown));
  await printLog(of, { name, follow }, show);
  const after = viewRun(view.place, view.run)?.state.tasks.get(task.spec.id);
  const ended = after?.attempts[attempt - 1];
  const footer = ended === undefined ? null : attemptFooter(ended, shown);
  if (footer !== null) process.stdout.write(`${footer}\n`);
}

function transcriptView({ view, task }: AttemptOf): TranscriptView {
  const { columns, isTTY } = process.stdout;
  const width = isTTY ? columns || 80 : Number.POSITIVE_INFINITY;
  return { clock, width, widthOf, workspace: folderOf(view, task) };
}

function readable(line: string, view: TranscriptView): string | null {
  const said = transcriptLine(line);
  return said === undefined ? null : transcriptText(said.at, said.event, view);
}

/** All that gates printed on a candidate, while they print it if asked to. */
async function gateLogs(view: RunView, task: string | null, flags: LogsFlags): Promise<number> {
  const { gate, candidate = null, raw = false, follow = false } = flags;
  const wish = { task, gate: typeof gate === 'string' ? gate : null, candidate };
  const print = (line: string): void => {
    process.stdout.write(`${raw ? line : clean(line)}\n`);
  };
  const reader: GateReader = {
    look: (look) => print(`── ${clean(gateTitle(look))} ──`),
    line: print,
    unkept: ({ ended }) => {
      for (const line of (ended?.output ?? '').split('\n')) print(line);
      console.error('All of it is not kept (--no-log, or it was cleaned up).');
    },
  };
  if (!follow || !view.live) await readGateLogs(view, wish, reader);
  else {
    const gates = (signal: AbortSignal) => followGateLogs(view, wish, reader, signal);
    tellAbandoned(await untilInterrupted(gates), view.run);
  }
  return EXIT.ok;
}

function gateTitle({ task, gate, tree, ended, at }: GateLook): string {
  const whose = task === null ? 'the publication' : task;
  const verdict =
    ended === null ? '' : `, ${ended.ok ? 'green' : 'red'} after ${durationText(ended.ms)}`;
  return `gate ${gate} on ${whose}, tree ${shortSha(tree)}, ${clock(at)}${verdict}`;
}

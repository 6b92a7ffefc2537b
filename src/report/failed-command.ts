/**
 * A failed command as every screen and report shows it: the command, its exit code, the lines of
 * output that matter, and how to see the rest.
 *
 *     $ npm test  (exit code 1)
 *     | AssertionError: 3 == 4
 *     Full output: landfast logs basket --gate tests
 *
 * The lines that matter are the first failed assertion and its surroundings, else the end; noise of
 * package managers, foreign stack frames and blank lines are left out.
 */

import type { Event } from '../model/event.ts';
import type { Failure, FailureKind } from '../model/failure.ts';
import type { TaskId } from '../model/plan.ts';
import { isGood, type RunState, type TaskState } from '../model/state.ts';
import { failureOf } from './outcome.ts';
import { anyOf, brief, clean, shellWord } from './sanitize.ts';

export interface FailedCommand {
  readonly command: string;
  /** Null if it was killed; the last line then says by what. */
  readonly exit_code: number | null;
  readonly lines: readonly string[];
  /** The command that shows the full output. */
  readonly logs: string;
}

/** The command behind a task's failure; null if there is none. */
export function failedCommand(failure: Failure | null, task: TaskId): FailedCommand | null {
  const logs = `landfast logs ${shellWord(task)}`;
  switch (failure?.kind) {
    case 'gate-failed': {
      const { command = failure.gate } = failure;
      return told({ ...failure, command }, `${logs} --gate ${shellWord(failure.gate)}`);
    }
    case 'checks-failed':
      return told({ ...failure, command: failure.check }, `${logs} --checks`);
    case 'workspace-failed': {
      const { command, output = '' } = failure;
      if (command === undefined) return null;
      return told({ ...failure, command, output }, `${logs} --setup`);
    }
    default:
      return null;
  }
}

/** The same for a finished gate; null if it is green or its red does not count. */
export function redGate(event: Event & { type: 'gate.finished' }): FailedCommand | null {
  const { task, gate, tree, ok, quarantined, on, command = gate } = event;
  if (ok || quarantined === true) return null;
  const isTask = task !== null && on === undefined;
  const of = isTask ? shellWord(task) : `--candidate ${tree.slice(0, 12)}`;
  return told({ ...event, command }, `landfast logs ${of} --gate ${shellWord(gate)}`);
}

interface Command {
  readonly command: string;
  readonly exitCode?: number | null;
  readonly output: string;
}

function told({ command, exitCode = null, output }: Command, logs: string): FailedCommand {
  const said = exitCode === null ? output : output.replace(END_NOTE, '');
  return { command, exit_code: exitCode, lines: relevantLines(said), logs };
}

/** The end note of an output (workspace/check.ts); the command's line has the exit code. */
const END_NOTE = /\(exit code \d+\)\s*$/;

/** None if no command failed. */
export function failedCommandLines(
  what: FailedCommand | null,
  most = SHOWN_LINES,
): readonly string[] {
  if (what === null) return [];
  const { command, exit_code: code, lines, logs } = what;
  const end = code === null ? '' : `  (exit code ${code})`;
  const shown = lines.length <= most ? lines : relevantLines(lines.join('\n'), most);
  return [
    `$ ${brief(command, 160)}${end}`,
    ...shown.map((line) => `| ${line}`),
    `Full output: ${logs}`,
  ];
}

/** The latest failure of an unsuccessful task; during a rework, what caused it. */
export function lastFailureOf(state: RunState, task: TaskState): Failure | null {
  if (isGood(task)) return null;
  const candidate = state.queue.find((each) => each.task === task.spec.id);
  const known = failureOf(task) ?? candidate?.failure ?? null;
  const before = task.status.kind === 'running' ? task.attempts.at(-2) : undefined;
  if (known !== null || before === undefined) return known;
  const sentBack = task.rejections.findLast(({ attempt }) => attempt === before.attempt);
  return before.failure ?? sentBack?.failure ?? null;
}

/** Unsuccessful tasks whose command failed, newest failure first. */
export function tasksWithFailedCommand(state: RunState) {
  const found = [...state.tasks.values()].flatMap((task) => {
    const failure = lastFailureOf(state, task);
    const isMeant = failure !== null && OF_COMMANDS.has(failure.kind);
    return isMeant ? [{ task, failure, at: failedAt(task) }] : [];
  });
  return found.sort((one, other) => other.at - one.at);
}

const OF_COMMANDS: ReadonlySet<FailureKind> = new Set([
  'gate-failed',
  'checks-failed',
  'workspace-failed',
]);

function failedAt({ status, attempts }: TaskState): number {
  return 'at' in status ? status.at : (attempts.at(-1)?.startedAt ?? 0);
}

/** Lines of failed output shown anywhere. */
export const SHOWN_LINES = 15;

const LONGEST_LINE = 160;
/** Lines before the failing one: they name the test. */
const BEFORE = 2;
/** Lines kept from the end, where totals are. */
const END = 3;

export function relevantLines(output: string, most = SHOWN_LINES): readonly string[] {
  const all = output.split('\n').map(seen);
  const lines = withoutNoise(all);
  if (lines.length <= most) return lines.map(cut);
  const at = failureIn(lines);
  const begin = at === -1 ? lines.length : Math.max(0, at - BEFORE);
  if (begin >= lines.length - most) return lines.slice(-most).map(cut);
  const rest = Math.min(END, Math.floor(most / 3));
  const block = lines.slice(begin, begin + most - rest - 1);
  return [...block.map(cut), '…', ...lines.slice(lines.length - rest).map(cut)];
}

/** A carriage return rewinds the line: progress bars overwrite themselves. */
function seen(line: string): string {
  return clean(line.replace(/\r+$/, '').replace(/^.*\r/s, '')).trimEnd();
}

function cut(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  return `${line.slice(0, LONGEST_LINE - 1).toWellFormed()}…`;
}

function withoutNoise(all: readonly string[]): readonly string[] {
  const filled = all.filter((line) => line.trim() !== '');
  const telling = filled.filter((line) => !NOISE.some((pattern) => pattern.test(line)));
  return telling.length > 0 ? telling : filled;
}

/** What npm prints for any failed script, as opposed to a failure of npm. */
const NPM_NOISE = [
  ...['$', 'Lifecycle script', 'Test failed\\.', 'Exit status \\d', '(?:errno|code) \\d+$'],
  ...['code ELIFECYCLE', 'A complete log of this run', 'This is probably not a problem with npm'],
  ...['.*\\.log$', '(?:path|workspace|location|command|in workspace:?)\\b', '\\S+@\\S+ \\w+: `'],
].join('|');

const NOISE: readonly RegExp[] = [
  // The script that npm, pnpm and yarn are about to run, and that it failed.
  /^> \S/,
  /^yarn run v\d|^info Visit https|^error Command failed with exit code \d+\.$/,
  /^\s*ELIFECYCLE\b|^ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL/,
  /^npm (?:notice|warn|WARN)\b/,
  new RegExp(`^npm (?:error|ERR!)\\s*(?:${NPM_NOISE})`),
  // Frames of the runtime and of other packages.
  /^\s+at .*(?:node:|node_modules\/|internal\/)/,
  /^Node\.js v\d+/,
  // How many tests did not fail.
  /^(?:ℹ|#) (?:tests|suites|pass|cancelled|skipped|todo|duration_ms) [\d.]+$/,
];

/** The first assertion, else the first failing test or compiler error. */
function failureIn(lines: readonly string[]): number {
  const at = lines.findIndex((line) => ASSERTION.test(line));
  return at === -1 ? lines.findIndex((line) => FAILURE.test(line)) : at;
}

const ASSERTION = anyOf([
  /\b(?:Assertion(?:Error|FailedError)?|AssertionError \[ERR_ASSERTION\])\b/,
  /^\s*(?:expect\(.*\)\.|E {2,}\S|panic: |assertion .*failed|thread '.*' panicked)/,
  /\bassert(?:ion)? failed\b/,
]);

const FAILURE = anyOf([
  /^\s*(?:not ok\b|✗|✘|✖|×|● |--- FAIL|FAIL(?:ED)?\b|Traceback \(|fatal:)/,
  /\berror(?:\[\w+\])?:|\berror TS\d+|^\s*(?:\w+\.)*\w*(?:Error|Exception)\b/,
  /: command not found$|: not found$|: No such file or directory$/,
]);

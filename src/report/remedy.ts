/**
 * What a user can do about an unsuccessful task: one sentence and one command that can be copied as
 * it stands. The compiler rejects a kind of failure without a remedy.
 */

import { conflictLines } from '../model/conflict.ts';
import type { Failure, FailureKind } from '../model/failure.ts';
import { taskBranch } from '../model/names.ts';
import type { TaskId } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import type { Totals } from './chrome-trace.ts';
import { durationText, isoTime, nameList } from './format.ts';
import { failureOf } from './outcome.ts';
import { shellWord } from './sanitize.ts';

export interface ReportInfo {
  readonly run: string;
  /** The timing profile, if measured. */
  readonly profile?: Totals;
}

export interface Remedy {
  readonly text: string;
  readonly command: string;
}

/** What to do about a task that failed or stopped; null if it did neither. */
export function remedyOf(state: RunState, task: TaskState, info: ReportInfo): Remedy | null {
  const failure = failureOf(task);
  if (failure === null) return null;
  const broughtAlong = isUntouched(task) ? adoptedRemedy(state, task, info) : null;
  if (broughtAlong !== null) return broughtAlong;
  return { text: adviceOn(failure), command: commandFor(failure, state, task, info) };
}

function adviceOn(failure: Failure): string {
  switch (failure.kind) {
    case 'rate-limited': {
      const { retryAt } = failure;
      return `Resume ${retryAt === undefined ? 'when the limit resets' : `after ${isoTime(retryAt)}`}.`;
    }
    case 'idle-timeout': {
      const silent = `It was silent for ${durationText(failure.afterMs)}.`;
      return `${silent} See where it hung; raise \`idle\` if it needs longer.`;
    }
    default:
      return ADVICE[failure.kind];
  }
}

function commandFor(failure: Failure, state: RunState, task: TaskState, info: ReportInfo): string {
  const branch = shellWord(branchOf(state, task, info));
  switch (failure.kind) {
    case 'gate-failed':
    case 'semantic':
      return `git diff HEAD...${branch}`;
    case 'conflict':
      return `git merge ${branch}`;
    case 'push-failed':
      return `git push -u ${shellWord(failure.remote)} ${shellWord(failure.branch)}`;
    default:
      return SEE_LOGS.has(failure.kind) ? logsCommand(task.spec.id) : resumeCommand(info.run);
  }
}

/** Work from before the run that none of its agents has seen. */
function isUntouched({ spec, attempts }: TaskState): boolean {
  return spec.work !== undefined && attempts.length === 0;
}

/** A run keeps the commit that a branch had: a fixed branch is landed by another run. */
function adoptedRemedy(state: RunState, task: TaskState, info: ReportInfo): Remedy | null {
  const branch = shellWord(branchOf(state, task, info));
  const kind = failureOf(task)?.kind;
  if (kind === 'gate-failed') {
    const text = 'Review what it changes, fix it on its branch, then land it again.';
    return { text, command: `git diff HEAD...${branch}` };
  }
  if (kind !== 'conflict') return null;
  const text = 'Merge the target into it and land it again, or let an agent resolve the conflict.';
  return { text, command: `landfast land ${branch} --on-conflict agent` };
}

export function branchOf(state: RunState, task: TaskState, info: ReportInfo): string {
  if (isUntouched(task) && task.spec.title !== undefined) return task.spec.title;
  return taskBranch(state.plan.conventions, info.run, task.spec);
}

export function resumeCommand(run: string): string {
  return `landfast resume ${shellWord(run)}`;
}

export function continueCommand(tasks: readonly TaskId[]): string {
  return `landfast continue ${tasks.map(shellWord).join(' ')}`;
}

export function approveCommand(run: string): string {
  return `landfast approve ${shellWord(run)}`;
}

export function logsCommand(task: TaskId): string {
  return `landfast logs ${shellWord(task)}`;
}

/** Whether the task's branch may hold unlanded work. */
export function hasKeptWork(state: RunState, task: TaskState): boolean {
  return (
    state.base !== null &&
    task.spec.mode === 'write' &&
    task.attempts.length > 0 &&
    task.workspace !== 'removed'
  );
}

/** How a task clashes with what landed meanwhile, as a predicate; null if it does not. */
export function combinationOf(task: TaskState, failure: Failure): string | null {
  if (!('landedSince' in failure)) return null;
  if (failure.landedSince.length === 0) return null;
  const others = nameList(failure.landedSince, 5);
  if (failure.kind === 'semantic') return `does not work with what landed meanwhile: ${others}`;
  if (failure.kind === 'conflict') return `conflicts with what landed meanwhile: ${others}`;
  const alone = task.gates.some(
    ({ gate, ok, on }) => gate === failure.gate && ok && on === 'alone',
  );
  return `is ${alone ? 'green alone, ' : ''}red together with what landed meanwhile: ${others}`;
}

/** The output of a failed check or gate, or the files in the way; empty if neither. */
export function outputOf(failure: Failure): string {
  if ('output' in failure) return failure.output;
  if (failure.kind === 'conflict') return conflictLines(failure).join('\n');
  return 'files' in failure ? failure.files.join('\n') : '';
}

const ADVICE: Readonly<Record<Exclude<FailureKind, 'rate-limited' | 'idle-timeout'>, string>> = {
  transient: 'It may succeed next time: see what it said, or resume to retry.',
  'exit-code': 'See what it printed, fix it, then resume.',
  auth: 'Sign in with the agent itself, then resume.',
  billing: "Top up the account's credit, then resume.",
  budget:
    'Resume with a higher `--budget USD`; to raise only the budget of this task: `resume --plan FILE`.',
  turns: 'The agent used up its turns. Split the task, then resume.',
  schema: 'The answer does not match the requested schema. See what the agent said.',
  permanent: 'Retrying will not help. See what the agent said.',
  cancelled: 'Resuming starts it again; its work so far is kept.',
  skipped: 'It was given up by hand; `landfast retry` takes it up again.',
  revision: 'Resuming gives its agent your note or review.',
  interrupted: 'Resuming continues it where it stopped.',
  'session-lost': 'The agent has lost its session; resuming starts a new one.',
  stuck: 'See what it kept repeating; a clearer task or other tools may help.',
  'no-change': 'If nothing had to change, set `allow_empty: true`. Otherwise see what it did.',
  'commit-failed': 'Fix what stopped the commit (a hook, the identity, a locked key), then resume.',
  'total-timeout':
    'Split the task or raise its `timeout` in the plan, then resume with it: `resume --plan FILE`.',
  'out-of-scope':
    'If these files belong to the task, add them to its `writes`, then `resume --plan FILE`.',
  'checks-failed': 'See what the agent tried; resuming gives it another attempt.',
  'workspace-failed': 'Fix what stopped the workspace (its `setup`, the disk), then resume.',
  'gate-failed':
    'Review the change, fix it on its branch, commit, then resume: your commit becomes the work.',
  semantic: 'Fix it on its branch, resume for a new attempt, or set `on_semantic: warn`.',
  conflict: 'Merge the branch yourself and resolve the conflict, or resume for a new attempt.',
  'push-failed':
    'Its work is on its branch. Push it yourself, or fix what stopped the push and resume.',
  'dependency-failed': 'It starts once its dependency succeeds.',
};

const SEE_LOGS: ReadonlySet<FailureKind> = new Set([
  ...(['exit-code', 'schema', 'permanent', 'no-change', 'idle-timeout', 'checks-failed'] as const),
]);

/**
 * What a person can do about a task that is not good: one sentence, and one command to run.
 *
 *   R1. Every kind of failure has a way out; the compiler rejects a kind without one.
 *   R2. A command can be copied as it stands: names from outside are quoted.
 *   R3. `green alone` is said only where something was green: the task's own checks, or the same
 *       gate on an earlier candidate of it.
 */

import { conflictLines } from '../model/conflict.ts';
import type { Failure, SimpleFailureKind } from '../model/failure.ts';
import { taskBranch } from '../model/names.ts';
import type { TaskId } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { shellWord } from './clean.ts';
import { durationText, isoTime, nameList } from './format.ts';
import { failureOf } from './outcome.ts';
import type { Totals } from './trace.ts';

/** What a report must be told besides the state. */
export interface ReportInfo {
  readonly run: string;
  /** Where the time went, if that was measured. */
  readonly profile?: Totals;
}

export interface Remedy {
  readonly text: string;
  readonly command: string;
}

/** What to do about a task that failed or stopped; null where it did neither. */
export function remedyOf(state: RunState, task: TaskState, info: ReportInfo): Remedy | null {
  const failure = failureOf(task);
  if (failure === null) return null;
  const broughtAlong = isUntouched(task) ? adoptedRemedy(state, task, info) : null;
  if (broughtAlong !== null) return broughtAlong;
  const branch = shellWord(branchOf(state, task, info));
  const resume = resumeCommand(info.run);
  const logs = logsCommand(task.spec.id);
  switch (failure.kind) {
    case 'rate-limited':
      return { text: `Go on${whenReset(failure.retryAt)}.`, command: resume };
    case 'idle-timeout':
      return {
        text: `${silentFor(failure.afterMs)} See where it hung; raise \`idle\` if it needs longer.`,
        command: logs,
      };
    case 'total-timeout':
      return {
        text: 'Split the task or raise its `timeout` and run the plan anew; going on tries again as it is.',
        command: resume,
      };
    case 'out-of-scope':
      return {
        text: 'If these files belong to the task, add them to its `writes` and run the plan anew; going on tries again as it is.',
        command: resume,
      };
    case 'checks-failed':
      return { text: 'See what the agent tried; going on gives it a new chance.', command: logs };
    case 'gate-failed':
      return {
        text: 'See what the work changes, and mend it on its branch or go on with a new attempt.',
        command: `git diff HEAD...${branch}`,
      };
    case 'conflict':
      return {
        text: 'Merge the branch yourself and resolve the conflict, or go on with a new attempt.',
        command: `git merge ${branch}`,
      };
    case 'push-failed':
      return {
        text: 'Its work is on its branch. Push it yourself, or put right what stopped it and go on.',
        command: `git push -u ${shellWord(failure.remote)} ${shellWord(failure.branch)}`,
      };
    case 'dependency-failed':
      return { text: 'It starts once the task it needs is good.', command: resume };
    default:
      return { text: SIMPLE[failure.kind], command: SEE_LOGS.has(failure.kind) ? logs : resume };
  }
}

/** Work that was there before the run, and that no agent of it has seen. */
function isUntouched({ spec, attempts }: TaskState): boolean {
  return spec.work !== undefined && attempts.length === 0;
}

/** A run holds to the commit that a branch had: one that was mended is landed by another run. */
function adoptedRemedy(state: RunState, task: TaskState, info: ReportInfo): Remedy | null {
  const branch = shellWord(branchOf(state, task, info));
  const kind = failureOf(task)?.kind;
  if (kind === 'gate-failed') {
    const text = 'See what it changes, and mend it on its branch; then land it again.';
    return { text, command: `git diff HEAD...${branch}` };
  }
  if (kind !== 'conflict') return null;
  const text = 'Merge the target into it and land it again, or let an agent resolve the conflict.';
  return { text, command: `landfast land ${branch} --on-conflict agent` };
}

/** The branch that holds a task's work. */
export function branchOf(state: RunState, task: TaskState, info: ReportInfo): string {
  if (isUntouched(task) && task.spec.title !== undefined) return task.spec.title;
  return taskBranch(state.plan.conventions, info.run, task.spec);
}

/** Goes on with a run where it stopped. */
export function resumeCommand(run: string): string {
  return `landfast resume ${shellWord(run)}`;
}

/** Shows what a task's agent said and did. */
export function logsCommand(task: TaskId): string {
  return `landfast logs ${shellWord(task)}`;
}

/** Whether a branch of the task may hold work that did not land. */
export function hasKeptWork(state: RunState, task: TaskState): boolean {
  return (
    state.base !== null &&
    task.spec.mode === 'write' &&
    task.attempts.length > 0 &&
    task.workspace !== 'removed'
  );
}

/** How a task does not fit to what landed meanwhile: a verb and its object; null where it does. */
export function combinationOf(task: TaskState, failure: Failure): string | null {
  if (failure.kind !== 'gate-failed' && failure.kind !== 'conflict') return null;
  if (failure.landedSince.length === 0) return null;
  const others = nameList(failure.landedSince, 5);
  if (failure.kind === 'conflict') return `conflicts with what landed meanwhile: ${others}`;
  const alone = wasGreenAlone(task, failure.gate) ? 'green alone, ' : '';
  return `is ${alone}red together with what landed meanwhile: ${others}`;
}

/** What a failed check or gate printed, or the files in the way; empty where there is neither. */
export function outputOf(failure: Failure): string {
  if ('output' in failure) return failure.output;
  if (failure.kind === 'conflict') return conflictLines(failure).join('\n');
  return 'files' in failure ? failure.files.join('\n') : '';
}

function wasGreenAlone(task: TaskState, gate: string): boolean {
  return task.spec.checks.length > 0 || task.gates.some((run) => run.gate === gate && run.ok);
}

function silentFor(ms: number): string {
  return `It was silent for ${durationText(ms)}.`;
}

function whenReset(retryAt: number | undefined): string {
  return retryAt === undefined ? ' when the limit allows it' : ` after ${isoTime(retryAt)}`;
}

const SIMPLE: Readonly<Record<SimpleFailureKind, string>> = {
  transient: 'It may work another time; see what it said, or go on to try again.',
  auth: 'Sign in with the agent itself, then go on.',
  billing: "Look after the account's credit, then go on.",
  budget:
    "Go on with more: `--budget USD`. A task's own `budget_usd` is raised in the plan, run anew.",
  turns: 'The agent used up its turns. Split the task, then go on.',
  schema: 'The answer did not have the form that was asked for. See what the agent said.',
  permanent: 'Trying the same again will not help. See what the agent said.',
  cancelled: 'Going on starts it again; its work so far is kept.',
  skipped: 'Somebody gave it up; `landfast retry` takes it up again.',
  interrupted: 'Going on continues it where it stopped.',
  'session-lost': 'The agent has lost its memory of the task; going on starts a new session.',
  stuck: 'See what it kept doing; a clearer task or other tools may help.',
  'no-change': 'If nothing had to change, say `allow_empty: true`. Otherwise see what it did.',
  'commit-failed':
    'Put right what stopped the commit (a hook, the identity, a locked key), then go on.',
  'workspace-failed': 'Put right what stopped the workspace (its `setup`, the disk), then go on.',
};

const SEE_LOGS: ReadonlySet<SimpleFailureKind> = new Set(['schema', 'permanent', 'no-change']);

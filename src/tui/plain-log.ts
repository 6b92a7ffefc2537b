/**
 * One line per notable fact, for output that is not a terminal: a file, a pipe, a CI log.
 *
 *   12:03:04  users  attempt 1 started (claude)
 *
 * Output of a failed command follows below its line. `state` already includes the entry.
 */

import type { AttemptStart, Entry, Event, StopMode } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Plan, TaskId } from '../model/plan.ts';
import { costOf, type RunState, type TaskState, type Wait } from '../model/state.ts';
import { failedCommand, failedCommandLines, redGate } from '../report/failed-command.ts';
import { count, durationText, moneyText, nameList, shortSha } from '../report/format.ts';
import { brokenText } from '../report/gate-problems.ts';
import {
  assigneeOf,
  deliveryText,
  EASED_BY,
  outcomeSentence,
  SHORT_OF,
} from '../report/outcome.ts';
import { differenceText } from '../report/plan-text.ts';
import { settledText, treeWord } from '../report/queue.ts';
import { brief, clean } from '../report/sanitize.ts';
import { isNotable, waitText } from '../report/task-view.ts';
import { pad, widthOf } from './styled-text.ts';

export interface PlainInfo {
  /** Formats a moment on the user's clock: `12:03:04`. */
  readonly clock: (at: number) => string;
  /** What a task waits for, from the scheduler. */
  readonly waitOf?: (task: TaskState) => Wait | null;
}

/** The line for an entry; null if it deserves none. */
export function plainLine(entry: Entry, state: RunState, info: PlainInfo): string | null {
  const text = textOf(entry, state, info);
  if (text === null) return null;
  const name = pad(subjectOf(entry.event), nameWidth(state.plan));
  const below = failedBy(entry.event, state).map((line) => `\n            ${line}`);
  return `${info.clock(entry.at)}  ${name}  ${text}${below.join('')}`;
}

/** Output of a gate, check or set-up that just failed. Repeated output is shown once. */
function failedBy(event: Event, { tasks }: RunState): readonly string[] {
  if (event.type === 'attempt.failed') {
    const what = failedCommand(event.failure, event.task);
    return what === null ? [] : failedCommandLines(what);
  }
  const what = event.type === 'gate.finished' ? redGate(event) : null;
  if (what === null || event.type !== 'gate.finished') return [];
  const { task, gate, tree, output } = event;
  const runs = task === null ? [] : (tasks.get(task)?.gates ?? []);
  const before = runs.slice(0, -1).findLast((each) => each.gate === gate && each.tree === tree);
  const isSame = before !== undefined && timeless(before.output) === timeless(output);
  return isSame ? [] : failedCommandLines(what);
}

/** Printed times differ from run to run. */
function timeless(output: string): string {
  return output.replace(/\d+/g, '0');
}

function subjectOf(event: Event): string {
  if (event.type.startsWith('publish.')) return '(publish)';
  if ('a' in event) return brief(event.a, 60);
  if (!('task' in event)) return '(run)';
  return event.task === null ? '(publish)' : brief(event.task, 60);
}

function textOf({ event, at }: Entry, state: RunState, info: PlainInfo): string | null {
  switch (event.type) {
    case 'run.started':
      return startText(event);
    case 'run.resumed':
      return event.retry.length === 0 ? 'resumed' : `resumed; retrying: ${nameList(event.retry)}`;
    case 'run.replanned':
      return `continues with an edited plan: ${differenceText(event.difference)}`;
    case 'run.stopping':
      return `${STOPPING[event.mode]} (${brief(event.why, 120)})`;
    case 'run.paused':
      return event.suspended
        ? 'paused: no new attempts, running agents are suspended'
        : 'paused: no new attempts, running agents continue';
    case 'run.continued':
      return 'continues';
    case 'run.limited':
      return `limits set: ${limitsText(event)}`;
    case 'run.held':
      return `waits for ${SHORT_OF[event.of]}: ${brief(event.why, 200)} ${EASED_BY[event.of]}`;
    case 'run.eased':
      return 'has enough resources again';
    case 'run.finished':
      return endText(state, at);
    case 'publish.started':
      return `publishing ${shortSha(event.head)}`;
    case 'publish.finished':
      return publishedText(event);
    case 'publish.blocked':
      return `blocked: ${brief(event.why, 200)} To do: ${clean(event.remedy)}`;
    case 'publish.awaited':
      return `${shortSha(event.head)} waits for your approval: landfast approve`;
    case 'publish.approved':
      return 'approved';
    case 'publish.declined':
      return "declined: what landed stays on the run's branch";
    case 'radar.conflict':
    case 'radar.cleared':
    case 'radar.semantic':
      return radarText(event);
    case 'gate.started':
      return null; // Its end is a line of its own.
    case 'gate.finished':
      return gateText(event);
    case 'gate.broken':
      return brokenText(event);
    default:
      return taskText(event, taskIn(state, event.task), { at, info, plan: state.plan });
  }
}

type TaskFact = Exclude<
  Event,
  { type: `run.${string}` | `publish.${string}` | `radar.${string}` | `gate.${string}` }
>;

interface Moment {
  readonly at: number;
  readonly info: PlainInfo;
  readonly plan: Plan;
}

function taskText(event: TaskFact, task: TaskState | undefined, moment: Moment): string | null {
  if (task === undefined) return null;
  switch (event.type) {
    case 'attempt.started':
      return attemptText(event, task);
    case 'attempt.prepared':
      return setupText(event);
    case 'attempt.denied':
      return deniedText(event);
    case 'attempt.strayed':
      return `your checkout changed while it ran: ${brief(event.files.join(', '), 120)}`;
    case 'scope.strayed':
      return strayedText(event.files);
    case 'attempt.finished':
      return finishedText(event, task, moment.at);
    case 'attempt.failed':
      return `attempt ${event.attempt} failed, ${failureText(event.failure)}${again(task, moment)}`;
    case 'merge.started':
      return delivers(moment) ? 'delivering' : landingText(event);
    case 'work.adopted':
      return `already finished at ${shortSha(event.commit)}`;
    case 'work.delivered':
      return `${deliveryText(event)}${filesText(task)}`;
    case 'merge.settled':
      return `merged, with ${brief(settledText(event.files), 160)}`;
    case 'merge.withdrawn':
      return `leaves the queue for now: ${brief(event.why, 120)}`;
    case 'candidate.verified':
      return event.failure === null ? null : `is red in the queue: ${failureText(event.failure)}`;
    case 'work.proved':
      return null; // That all is published says it.
    case 'merge.landed':
      return `landed as ${shortSha(event.commit)}${filesText(task)}`;
    case 'merge.rejected':
      return `${delivers(moment) ? 'was not delivered' : 'did not land'}, ${failureText(event.failure)}${again(task, moment)}`;
    case 'task.failed':
      return overText(event.failure, task);
    case 'task.cancelled':
      return 'cancelling';
    case 'task.retried':
      return retriedText(event);
    case 'task.paused':
      return 'paused';
    case 'task.continued':
      return 'no longer paused';
    case 'task.commented':
      return `reviewed: ${count(event.comments.length, 'comment')} for its agent`;
    case 'task.skipped':
      return event.satisfied ? 'given up, counted as done' : 'given up';
    case 'work.mended':
      return `someone committed to its branch: ${shortSha(event.commit)} is its work now`;
    case 'work.kept':
      return `starts over; earlier work is kept as ${brief(event.ref, 160)}`;
    case 'workspace.kept':
      return `kept: ${brief(event.why, 200)}`;
    case 'attempt.session':
    case 'attempt.usage':
    case 'candidate.built':
    case 'candidate.verifying':
    case 'candidate.dropped':
    case 'merge.landing':
    case 'workspace.released':
    case 'workspace.removed':
      return null;
  }
}

function retriedText({ fresh, note }: Event & { type: 'task.retried' }): string {
  const start = fresh ? 'will be retried from the start' : 'will be retried';
  return note === undefined ? start : `${start}, with a note: ${brief(note, 120)}`;
}

function limitsText(event: Event & { type: 'run.limited' }): string {
  const { type: _, ...limits } = event;
  return Object.entries(limits)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

function strayedText(files: readonly string[]): string {
  if (files.length === 0) return 'is back within its scope';
  return `changes files outside its scope: ${nameList(files)}`;
}

function deniedText({ tool, what, allow }: Event & { type: 'attempt.denied' }): string {
  const use = what === undefined ? '' : ` (${brief(what, 80)})`;
  const how = allow === undefined ? '' : `; to allow it: ${brief(allow, 120)}`;
  return `tool denied: ${brief(tool, 60)}${use}${how}`;
}

function landingText({ onto, passes = [] }: Event & { type: 'merge.started' }): string {
  const past = passes.length === 0 ? '' : `, past ${nameList(passes)}`;
  return `landing onto ${shortSha(onto)}${past}`;
}

function delivers({ plan }: Moment): boolean {
  return plan.landing.strategy === 'none';
}

function startText({ plan, base, target }: Event & { type: 'run.started' }): string {
  const from = base === null ? '' : ` from ${shortSha(base)}`;
  const to = target === null ? '' : ` for ${brief(target, 80)}`;
  return `started ${brief(plan.name, 60)}: ${count(plan.tasks.length, 'task')}${from}${to}`;
}

function endText(state: RunState, at: number): string {
  const time = durationText(at - state.startedAt);
  return `${outcomeSentence(state)} ${time}, ${moneyText(costOf(state))}`;
}

function gateText(event: Event & { type: 'gate.finished' }): string {
  const { ok, ms, spared, by, quarantined } = event;
  const gate = `gate ${brief(event.gate, 60)}`;
  if (spared === 'paths') return `${gate} not run: none of its paths changed`;
  if (spared === 'memory') return `${gate} not run: green on these files in run ${by}`;
  const counts = quarantined === true ? ' (in quarantine, does not count)' : '';
  return `${gate} ${ok ? 'green' : 'red'}${treeWord(event)} after ${durationText(ms)}${counts}`;
}

function radarText(event: Event & { type: `radar.${string}` }): string {
  const other = event.b === null ? 'what is about to land' : brief(event.b, 60);
  if (event.type === 'radar.conflict') {
    return `will conflict with ${other} in ${nameList(event.files)}`;
  }
  if (event.type === 'radar.cleared') return `no longer conflicts with ${other}`;
  if (event.names.length === 0) return `no longer changes anything that ${other} uses`;
  return `changes what ${other} uses: ${nameList(event.names.map(({ name }) => name))}`;
}

function attemptText(event: Event & { type: 'attempt.started' }, task: TaskState): string {
  const who = `${brief(assigneeOf(task), 40)}${STARTS[event.start.kind]}`;
  return `attempt ${event.attempt} started (${who})`;
}

function setupText({ setup, ms, why }: Event & { type: 'attempt.prepared' }): string {
  const time = durationText(ms);
  if (setup === 'kept') return 'set-up skipped: key unchanged';
  if (setup === 'seeded') return `set-up skipped: key unchanged, copied from a seed in ${time}`;
  return `set-up done after ${time}${why === undefined ? '' : `; no seed: ${brief(why, 160)}`}`;
}

function publishedText(event: Event & { type: 'publish.finished' }): string {
  const checkout = event.checkout === 'followed' ? ', checkout updated' : '';
  return `${brief(event.target, 80)} is at ${shortSha(event.commit)}${checkout}`;
}

function finishedText(
  event: Event & { type: 'attempt.finished' },
  task: TaskState,
  at: number,
): string {
  const startedAt = task.attempts.at(-1)?.startedAt ?? at;
  const changed = event.commit === null ? 'nothing to land' : count(event.files.length, 'file');
  const outside =
    event.outside.length === 0 ? '' : `; outside its scope: ${nameList(event.outside)}`;
  const time = durationText(at - startedAt);
  return `attempt ${event.attempt} finished after ${time}, ${changed}${outside}`;
}

function failureText(failure: Failure): string {
  return `${failure.kind}: ${brief(failure.message, 200)}`;
}

function again(task: TaskState, { at, info }: Moment): string {
  const wait = info.waitOf?.(task) ?? null;
  if (wait === null || !isNotable(wait)) return '';
  return ` (${waitText(wait, { now: at, clock: info.clock })})`;
}

function filesText(task: TaskState): string {
  const files = task.attempts.at(-1)?.files.length ?? 0;
  return files === 0 ? '' : ` (${count(files, 'file')})`;
}

/** The attempt's line already gave the reason; without an attempt, this one does. */
function overText(failure: Failure, task: TaskState): string {
  if (failure.kind === 'dependency-failed')
    return `skipped: needs ${brief(failure.dependency, 60)}`;
  if (failure.kind === 'cancelled' || failure.kind === 'skipped') return failure.kind;
  const tries = task.attempts.length;
  if (tries === 0) return `failed, ${failureText(failure)}`;
  return `failed for good after ${count(tries, 'attempt')} (${failure.kind})`;
}

const STOPPING: Readonly<Record<StopMode, string>> = {
  drain: 'draining: no new attempts',
  end: 'ending agents, their work is kept',
  cancel: 'cancelling, work is kept',
};

const STARTS: Readonly<Record<AttemptStart['kind'], string>> = {
  fresh: '',
  continue: ', continues',
  rework: ', reworks what did not land',
};

function taskIn(state: RunState, id: TaskId): TaskState | undefined {
  return state.tasks.get(id);
}

/** The width of the longest id, within limits; memoized per plan. */
function nameWidth(plan: Plan): number {
  const known = WIDTHS.get(plan);
  if (known !== undefined) return known;
  const longest = plan.tasks.reduce((most, { id }) => Math.max(most, widthOf(id)), 9);
  const width = Math.min(longest, 24);
  WIDTHS.set(plan, width);
  return width;
}

const WIDTHS = new WeakMap<Plan, number>();

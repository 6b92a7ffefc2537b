/**
 * One line per notable fact, for output that is no terminal: a file, a pipe, a CI log.
 *
 *   12:03:04  users  attempt 1 started (claude)
 *
 *   P1. One entry is at most one line; texts from outside are cleaned and cut.
 *   P2. `state` already holds the entry. The clock's wording is handed in.
 */

import type { AttemptStart, Entry, Event, StopMode } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Plan, TaskId } from '../model/plan.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { costOf } from '../model/state.ts';
import type { Wait } from '../model/wait.ts';
import { brief, clean } from '../report/clean.ts';
import { count, durationText, moneyText, nameList, shortSha } from '../report/format.ts';
import { deliveryText, doerOf, EASED_BY, outcomeSentence, SHORT_OF } from '../report/outcome.ts';
import { settledText } from '../report/settled.ts';
import { isNotable, waitText } from '../report/wait.ts';
import { pad } from './fit.ts';
import { widthOf } from './width.ts';

export interface PlainInfo {
  /** A moment (ms since 1970) on the user's clock: `12:03:04`. */
  readonly clock: (at: number) => string;
  /** What a task waits for, as the scheduler has it. */
  readonly waitOf?: (task: TaskState) => Wait | null;
}

/** The line for an entry, or null where it is not worth one. */
export function plainLine(entry: Entry, state: RunState, info: PlainInfo): string | null {
  const text = textOf(entry, state, info);
  if (text === null) return null;
  const name = pad(subjectOf(entry.event), nameWidth(state.plan));
  return `${info.clock(entry.at)}  ${name}  ${text}`;
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
      return event.retry.length === 0 ? 'resumed' : `resumed; again: ${nameList(event.retry)}`;
    case 'run.stopping':
      return `${STOPPING[event.mode]} (${brief(event.why, 120)})`;
    case 'run.paused':
      return event.suspended
        ? 'paused: no new attempts, running agents are suspended'
        : 'paused: no new attempts, running agents go on';
    case 'run.continued':
      return 'goes on';
    case 'run.held':
      return `waits for ${SHORT_OF[event.of]}: ${brief(event.why, 200)} ${EASED_BY[event.of]}`;
    case 'run.eased':
      return 'has room again';
    case 'run.finished':
      return endText(state, at);
    case 'publish.started':
      return `publishing ${shortSha(event.head)}`;
    case 'publish.finished':
      return publishedText(event);
    case 'publish.blocked':
      return `blocked: ${brief(event.why, 200)} To do: ${clean(event.remedy)}`;
    case 'radar.conflict':
    case 'radar.cleared':
    case 'radar.semantic':
      return radarText(event);
    case 'gate.started':
      return null; // How it ends is told.
    case 'gate.finished':
      return gateText(event);
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
      return `tool denied: ${brief(event.tool, 60)}`;
    case 'attempt.strayed':
      return `your checkout changed while it ran: ${brief(event.files.join(', '), 120)}`;
    case 'scope.strayed':
      return event.files.length === 0
        ? 'is back within its scope'
        : `changes files outside its scope: ${nameList(event.files)}`;
    case 'attempt.finished':
      return finishedText(event, task, moment.at);
    case 'attempt.failed':
      return `attempt ${event.attempt} failed, ${failureText(event.failure)}${again(task, moment)}`;
    case 'merge.started':
      return delivers(moment) ? 'delivering' : landingText(event);
    case 'work.adopted':
      return `is finished already, at ${shortSha(event.commit)}`;
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
      return 'is to be cancelled';
    case 'task.retried':
      return event.fresh ? 'is tried again, from the start' : 'is tried again';
    case 'task.skipped':
      return event.satisfied ? 'is given up, as if it were done' : 'is given up';
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

function landingText({ onto, passes = [] }: Event & { type: 'merge.started' }): string {
  const past = passes.length === 0 ? '' : `, past ${nameList(passes)}`;
  return `landing onto ${shortSha(onto)}${past}`;
}

/** Whether finished work stays on its branch. */
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
  if (spared === 'paths') return `${gate} not run: nothing of its paths is touched`;
  if (spared === 'memory') return `${gate} not run: green on these files in run ${by}`;
  const counts = quarantined === true ? ' (in quarantine, does not count)' : '';
  return `${gate} ${ok ? 'green' : 'red'} after ${durationText(ms)}${counts}`;
}

function radarText(event: Event & { type: `radar.${string}` }): string {
  const other = event.b === null ? 'what is about to land' : brief(event.b, 60);
  if (event.type === 'radar.conflict') {
    return `will conflict with ${other} in ${nameList(event.files)}`;
  }
  if (event.type === 'radar.cleared') return `no longer conflicts with ${other}`;
  if (event.names.length === 0) return `changes nothing any more that ${other} uses`;
  return `changes what ${other} uses: ${nameList(event.names.map(({ name }) => name))}`;
}

function attemptText(event: Event & { type: 'attempt.started' }, task: TaskState): string {
  const who = `${brief(doerOf(task), 40)}${STARTS[event.start.kind]}`;
  return `attempt ${event.attempt} started (${who})`;
}

function setupText({ setup, ms, why }: Event & { type: 'attempt.prepared' }): string {
  const time = durationText(ms);
  if (setup === 'kept') return 'set-up skipped: key unchanged';
  if (setup === 'seeded') return `set-up skipped: key unchanged, copied from a seed in ${time}`;
  return `set-up done after ${time}${why === undefined ? '' : `; no seed: ${brief(why, 160)}`}`;
}

function publishedText(event: Event & { type: 'publish.finished' }): string {
  const checkout = event.checkout === 'followed' ? ', the checkout followed' : '';
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

/** The attempt's own line has told the reason; without an attempt this one has to. */
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

/** As wide as the longest id, within reason; known once per plan. */
function nameWidth(plan: Plan): number {
  const known = WIDTHS.get(plan);
  if (known !== undefined) return known;
  const longest = plan.tasks.reduce((most, { id }) => Math.max(most, widthOf(id)), 9);
  const width = Math.min(longest, 24);
  WIDTHS.set(plan, width);
  return width;
}

const WIDTHS = new WeakMap<Plan, number>();

/**
 * The landing queue of a run: as text, JSON and one line, why it did what it did, and which files
 * were resolved without an agent. Text and JSON come from the same view and so cannot disagree.
 */

import type { SettledFile } from '../model/conflict.ts';
import type { Entry, Event } from '../model/event.ts';
import type { GateTree } from '../model/gate.ts';
import type { Sha, TaskId } from '../model/plan.ts';
import type { Candidate, RunningGate, RunState } from '../model/state.ts';
import { chainOf, isGood, passerOf } from '../model/state.ts';
import { type FailedCommand, failedCommand, failedCommandLines } from './failed-command.ts';
import { durationText, isoTime, nameList, shortSha } from './format.ts';
import { brief } from './sanitize.ts';

export function queueView(state: RunState) {
  const tasks = [...state.tasks.values()];
  const passer = passerOf(state);
  return {
    head: state.head,
    target: state.target,
    verify: state.plan.gates.length === 0 ? 'off' : state.plan.landing.verify,
    slots: state.plan.limits.gates,
    chain: chainOf(state).map((candidate, at, chain) => ({
      ...candidateView(state, candidate),
      onto: chain[at - 1]?.task ?? null,
    })),
    passing: passer && { ...candidateView(state, passer), passes: passer.passes },
    waiting: tasks.flatMap(({ spec, status }) =>
      status.kind === 'committed' ? [{ task: spec.id, behind: status.avoids ?? null }] : [],
    ),
    landed: state.landed.map(({ task, commit }) => ({ task, commit })),
    ejected: tasks.flatMap(({ spec, rejections }) =>
      rejections.map(({ failure }) => ({
        ...{ task: spec.id, kind: failure.kind, why: failure.message },
        failed: failedCommand(failure, spec.id),
      })),
    ),
  };
}

function candidateView({ landing }: RunState, candidate: Candidate) {
  const { task, isRunning, since = null, looks, gate = null } = candidate;
  return {
    task,
    state: conditionOf(candidate, landing),
    since: isRunning ? isoTime(since) : null,
    looks,
    failed: failedCommand(candidate.failure, task),
    gate: gate?.name ?? null,
    gate_since: isoTime(gate?.at ?? null),
  };
}

type Condition = 'being built' | 'landing' | 'verifying' | 'green' | 'red' | 'built';

function conditionOf({ built, isRunning, verdict }: Candidate, landing: Sha | null): Condition {
  if (built === null) return 'being built';
  if (built.commit === landing) return 'landing';
  if (isRunning) return 'verifying';
  return verdict === 'none' ? 'built' : verdict;
}

/** `gate tests for 8.0 s` */
export function gateText({ name, at }: RunningGate, now: number): string {
  return `gate ${brief(name, 60)} for ${durationText(now - at)}`;
}

export function queueText(
  state: RunState,
  info: { readonly run: string; readonly now: number },
): string {
  const view = queueView(state);
  const goal = view.target === null ? '' : `, for ${brief(view.target, 80)}`;
  const head = view.head === null ? '' : `  head ${shortSha(view.head)}${goal}`;
  const how = view.verify === 'off' ? 'nothing is verified' : `verify ${view.verify}`;
  const chain = chainOf(state).map((candidate) => candidateRow(state, candidate, info.now));
  const waiting = view.waiting.map(({ task, behind }): Row => [task, behindText(behind), null]);
  const landed = view.landed.map(({ task, commit }): Row => {
    return [task, `as ${shortSha(commit)}`, null];
  });
  const ejected = view.ejected.map(({ task, kind, why, failed }): Row => {
    return [task, `${kind}: ${brief(why, 200)}`, isMended(state, task) ? null : failed];
  });
  const lines = [
    `${brief(state.plan.name, 60)}  ${brief(info.run, 60)}  ${how}, ${view.slots} at a time${head}`,
    ...section('In progress, each built on the one above it:', chain),
    ...section('Overtaking them, built on the head:', passerRows(state, info.now)),
    ...section('Waiting:', waiting),
    ...section('Landed:', landed),
    ...section('Did not land:', ejected),
  ];
  const isEmpty = lines.length === 1;
  return `${[...lines, ...(isEmpty ? ['', 'The queue is empty.'] : [])].join('\n')}\n`;
}

function candidateRow({ landing }: RunState, candidate: Candidate, now: number): Row {
  const condition = conditionOf(candidate, landing);
  const { since = now, gate = null } = candidate;
  const time = condition === 'verifying' ? ` for ${durationText(now - since)}` : '';
  const again = condition === 'verifying' && candidate.looks > 0 ? ', second run' : '';
  const which = gate === null ? '' : `, ${gateText(gate, now)}`;
  const failed = failedCommand(candidate.failure, candidate.task);
  return [candidate.task, `${condition}${time}${again}${which}`, failed];
}

/** A rejection is shown in one line once the task has landed. */
function isMended({ tasks }: RunState, id: TaskId): boolean {
  const task = tasks.get(id);
  return task !== undefined && isGood(task);
}

function passerRows(state: RunState, now: number): readonly Row[] {
  const passer = passerOf(state);
  if (passer === null) return [];
  const [task, text, failed] = candidateRow(state, passer, now);
  return [[task, `${text}, past ${nameList(passer.passes ?? [], 8)}`, failed]];
}

function behindText(behind: TaskId | null): string {
  return behind === null ? 'for its turn' : `behind ${brief(behind, 60)}: they conflict`;
}

type Row = readonly [task: TaskId, text: string, failed: FailedCommand | null];

function section(title: string, rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([task]) => brief(task, 60).length));
  const lines = rows.flatMap(([task, text, failed]) => [
    `  ${brief(task, 60).padEnd(width)}  ${text}`,
    ...failedCommandLines(failed).map((line) => `      ${line}`),
  ]);
  return ['', title, ...lines];
}

/** The tree a gate ran on, if not a candidate. */
export function treeWord({ on }: { readonly on?: GateTree | undefined }): string {
  if (on === undefined) return '';
  return on === 'base' ? ' on the base' : ' on the work alone';
}

const MOST = 5;

/** One line for status and the live view; null if the queue is empty. */
export function queueLine(state: RunState, now: number): string | null {
  const parts = [
    ...state.queue.map((candidate) => {
      const { task, passes } = candidate;
      const past = passes === undefined ? '' : `, past ${nameList(passes)}`;
      return `${short(task)} ${candidateText(state, candidate, now)}${past}`;
    }),
    ...waitingParts(state),
  ];
  if (parts.length === 0) return null;
  const rest = parts.length - MOST;
  return [...parts.slice(0, MOST), ...(rest > 0 ? [`${rest} more`] : [])].join(' · ');
}

/** `in gate tests for 8.0 s`, `is green` */
export function candidateText(
  { landing, plan }: RunState,
  candidate: Candidate,
  now: number,
): string {
  const { gate = null, since = now } = candidate;
  if (gate !== null) return `in ${gateText(gate, now)}`;
  const condition = conditionOf(candidate, landing);
  switch (condition) {
    case 'being built':
      return plan.landing.strategy === 'none' ? 'is being delivered' : 'is being built';
    case 'verifying':
      return `is verified for ${durationText(now - since)}`;
    case 'built':
      return 'waits for its gates';
    default:
      return condition === 'landing' ? 'lands' : `is ${condition}`;
  }
}

function waitingParts({ tasks }: RunState): readonly string[] {
  return [...tasks.values()].flatMap(({ spec, status }) => {
    if (status.kind !== 'committed') return [];
    const turn = status.avoids === undefined ? 'for its turn' : `behind ${short(status.avoids)}`;
    return [`${short(spec.id)} waits ${turn}`];
  });
}

function short(text: string): string {
  return brief(text, 60);
}

/** One sentence per gate result, decision, landing and ejection, in journal order. */
export function queueStory(entries: Iterable<Entry>): readonly string[] {
  const known: Known = { chain: [], built: new Map() };
  const lines: string[] = [];
  for (const { event } of entries) {
    const text = sentence(event, known);
    if (text !== null && 'task' in event)
      lines.push(`${brief(event.task ?? '(publish)', 60)} ${text}`);
    follow(event, known);
  }
  return lines;
}

/** The chain and its candidates at this point of the journal. */
interface Known {
  readonly chain: TaskId[];
  readonly built: Map<TaskId, Sha>;
}

function follow(event: Event, { chain, built }: Known): void {
  if (event.type === 'merge.started' && event.passes === undefined) chain.push(event.task);
  if (event.type === 'candidate.built') built.set(event.task, event.commit);
  if (!('task' in event) || event.task === null) return;
  const leaves = /^(?:merge\.(?:landed|rejected|withdrawn)|work\.delivered)$/.test(event.type);
  const at = chain.indexOf(event.task);
  if (leaves && at >= 0) chain.splice(at, 1);
  if (leaves) built.delete(event.task);
}

function sentence(event: Event, known: Known): string | null {
  switch (event.type) {
    case 'merge.started':
      return wayOf(event);
    case 'gate.finished':
      return gateSentence(event);
    case 'candidate.built':
      return event.spared === true ? 'was green on the head: no gate needed.' : null;
    case 'candidate.verified':
      return verdictOf(event, known);
    case 'merge.withdrawn':
      return `left the queue for now: ${brief(event.why, 200)}${event.lingers === true ? LINGERS : ''}`;
    case 'merge.landed':
      return `landed as ${shortSha(event.commit)}.`;
    case 'merge.rejected':
      return event.failure.kind === 'gate-failed'
        ? `was ejected: red twice, while ${shortSha(event.onto)} without it is green.`
        : `did not land: ${brief(event.failure.message, 200)}`;
    default:
      return null;
  }
}

/** Only independent work can overtake. */
function wayOf({ passes, stays }: Event & { type: 'merge.started' }): string | null {
  if (passes !== undefined) {
    return `passes ${nameList(passes, 8)}: it is independent, and they change other paths.`;
  }
  return stays === undefined ? null : `is independent, but takes its turn: ${brief(stays, 200)}.`;
}

function verdictOf(
  { task, commit, failure }: Event & { type: 'candidate.verified' },
  { chain, built }: Known,
): string {
  const colour = failure === null ? 'green' : 'red';
  if (built.get(task) !== commit) return `was ${colour}, as it was before it left the queue.`;
  const ahead = chain.slice(0, Math.max(0, chain.indexOf(task)));
  const with_ = ahead.length === 0 ? 'on the head' : `with ${nameList(ahead, 8)} ahead of it`;
  return `was ${colour}, ${with_}.`;
}

const LINGERS = ' Its gates keep running: their results are remembered.';

function gateSentence(event: Event & { type: 'gate.finished' }): string {
  const { gate, ok, ms, spared, by, quarantined, on } = event;
  const name = `gate ${brief(gate, 60)}`;
  if (spared === 'paths') return `needed no ${name}: none of its paths changed.`;
  if (spared === 'memory') return `needed no ${name}: green on the same files in run ${by}.`;
  const verdict = ok ? 'green' : 'red';
  const counts = quarantined === true ? ', which does not count (quarantine)' : '';
  return `had ${name} ${verdict}${treeWord({ on })} after ${durationText(ms)}${counts}.`;
}

/** `a.ts resolved as in run r1, b.lock regenerated by npm install` */
export function settledText(files: readonly SettledFile[]): string {
  return files.map((file) => `${file.path} ${howSettled(file)}`).join(', ');
}

export function howSettled({ how, by }: SettledFile): string {
  return how === 'memory' ? `resolved as in run ${by}` : `regenerated by ${by}`;
}

/** Tasks whose newest candidate holds files resolved without an agent. */
export function settledTasks(state: RunState) {
  return [...state.tasks.values()]
    .filter(({ settled }) => settled.length > 0)
    .map(({ spec, settled }) => ({ task: spec.id, files: settled }));
}

/**
 * Tools that were denied to agents: what they were for, what would allow them, and whether the work
 * done without them can be trusted. An agent that is denied a tool continues and calls itself done,
 * so its success is in doubt if the change is empty or nothing has verified it.
 */

import type { Denial } from '../model/event.ts';
import { isGood, type RunState, type TaskState } from '../model/state.ts';
import { count } from './format.ts';
import { brief } from './sanitize.ts';

export interface CountedDenial extends Denial {
  readonly times: number;
}

/** Denied tools of a task, each use once, with its count. */
export function denialsOf({ attempts }: TaskState): readonly CountedDenial[] {
  const known = new Map<string, CountedDenial>();
  for (const denial of attempts.flatMap(({ denied }) => denied)) {
    const key = `${denial.tool}\0${denial.what ?? ''}`;
    known.set(key, { ...denial, times: (known.get(key)?.times ?? 0) + 1 });
  }
  return [...known.values()];
}

/** `Bash (curl -s x), WebFetch`: the first few. */
export function denialText(task: TaskState): string {
  const all = denialsOf(task);
  const shown = all.slice(0, SHOWN).map(({ tool, what, times }) => {
    const use = what === undefined ? '' : ` (${brief(what, 60)})`;
    return `${brief(tool, 60)}${use}${times === 1 ? '' : ` ${times} times`}`;
  });
  const rest = all.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

export function allowingLines(task: TaskState): readonly string[] {
  const lines = denialsOf(task).flatMap(({ allow }) => (allow === undefined ? [] : [allow]));
  return [...new Set(lines)].slice(0, SHOWN).map((line) => brief(line, 160));
}

const SHOWN = 3;

/** Why the result of a successful task is doubtful; null if it is not. */
export function doubtOf({ plan }: RunState, task: TaskState): string | null {
  const { spec, status, attempts } = task;
  const isDenied = attempts.some(({ denied }) => denied.length > 0);
  if (!isDenied || !isGood(task) || spec.mode === 'read') return null;
  if (status.kind === 'done') return 'it changed nothing';
  if (attempts.at(-1)?.empty === true) return 'all files it leaves are empty';
  const isVerified = plan.gates.length > 0 && plan.landing.verify !== 'off';
  return isVerified || spec.checks.length > 0 ? null : 'no gate has verified its work';
}

/** Counts tasks that succeeded doubtfully despite a denied tool. */
export function doubtClause(state: RunState): string {
  const doubtful = [...state.tasks.values()].filter((task) => doubtOf(state, task) !== null);
  if (doubtful.length === 0) return '';
  if (state.tasks.size === 1) return ', but a tool was denied to it';
  return `, but tools were denied to ${count(doubtful.length, 'of them', 'of them')}`;
}

/** Per task with denied tools: what was denied, what follows, and what would allow it. */
export function deniedLines(state: RunState): readonly string[] {
  const denied = [...state.tasks.values()].filter((task) => denialsOf(task).length > 0);
  const lines = denied.slice(0, MOST_TASKS).flatMap((task) => {
    const [first, ...more] = deniedOf(state, task);
    return [`! ${brief(task.spec.id, 60)}  ${first}`, ...more.map((line) => `    ${line}`)];
  });
  const rest = denied.length - MOST_TASKS;
  return rest > 0 ? [...lines, `… and ${rest} more tasks with denied tools`] : lines;
}

const MOST_TASKS = 10;

export function deniedOf(state: RunState, task: TaskState): readonly string[] {
  if (denialsOf(task).length === 0) return [];
  const doubt = doubtOf(state, task);
  return [
    `denied: ${denialText(task)}${doubt === null ? '' : `; ${doubt}`}`,
    ...allowingLines(task).map((line) => `To allow it, in the task or in landfast.yaml: ${line}`),
  ];
}

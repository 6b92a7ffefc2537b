/**
 * What the radar predicts: a table and lines of collisions while agents work, and at the end every
 * predicted name clash with its outcome. The table holds only tasks that collide, and is left out
 * if it is too wide.
 */

import type { TaskId } from '../model/plan.ts';
import { clashSentences, type Finding } from '../model/radar.ts';
import type { RunState, TaskState } from '../model/state.ts';
import { type Cell, columns, count, type Ink, nameList } from './format.ts';
import { brief } from './sanitize.ts';

const MOST_IN_TABLE = 12;
const HEAD = 'head';

/** The lines of `status`; none if nothing is predicted. */
export function radarLines(state: RunState, ink: Ink): readonly string[] {
  const { collisions, clashes } = state.radar;
  const lines = [
    ...collisions.map(({ a, b, files }) => {
      const other = b === null ? 'what is about to land' : short(b);
      return `${short(a)} will conflict with ${other}: ${nameList(files)}`;
    }),
    ...clashes.map(({ a, b, names }) => {
      const told = names.map(({ name, change }) => `${name} (${change})`);
      return `${nameWords(state, a, b)}: ${nameList(told)}`;
    }),
    ...astrayTasks(state).map(({ task, files }) => {
      return `${short(task)} changes files outside its scope: ${nameList(files)}`;
    }),
  ];
  if (lines.length === 0) return [];
  return [ink.paint('warn', 'Radar'), ...matrix(state, ink), ...lines.map((line) => `  ${line}`)];
}

/** One of two clashing tasks may have landed. */
function nameWords({ tasks }: RunState, a: TaskId, b: TaskId): string {
  const hasLanded = (id: TaskId) => tasks.get(id)?.status.kind === 'landed';
  if (hasLanded(a)) return `${short(a)} has landed, and changes what ${short(b)} uses`;
  const which = hasLanded(b) ? ', which has landed,' : '';
  return `${short(a)} changes what ${short(b)}${which} uses`;
}

/** Running tasks that change files outside their scope. */
function astrayTasks({ tasks }: RunState) {
  return [...tasks.values()]
    .filter(({ status }) => status.kind === 'running')
    .map(({ spec, attempts }) => ({ task: spec.id, files: attempts.at(-1)?.astray ?? [] }))
    .filter(({ files }) => files.length > 0);
}

/** One line for the live view; null if nothing is predicted. */
export function radarLine(state: RunState): string | null {
  const { collisions, clashes } = state.radar;
  const astray = astrayTasks(state).map(({ task }) => task);
  const pairs = collisions.map(({ a, b }) => `${short(a)} × ${b === null ? HEAD : short(b)}`);
  const parts = [
    ...(pairs.length === 0 ? [] : [`will conflict: ${nameList(pairs)}`]),
    ...(clashes.length === 0 ? [] : [`${count(clashes.length, 'pair')} with changed names`]),
    ...(astray.length === 0 ? [] : [`astray: ${nameList(astray)}`]),
  ];
  return parts.length === 0 ? null : `radar: ${parts.join('; ')}`;
}

/** Tasks by tasks: `x` for a conflict, `n` for names, `·` for neither. */
export function matrix(state: RunState, ink: Ink): readonly string[] {
  const { collisions, clashes } = state.radar;
  const pairs = [...collisions, ...clashes];
  const involved = new Set<TaskId | null>(pairs.flatMap(({ a, b }) => [a, b]));
  const ids = [...state.tasks.keys()].filter((id) => involved.has(id));
  const across: (TaskId | null)[] = involved.has(null) ? [...ids, null] : ids;
  if (across.length < 2 || across.length > MOST_IN_TABLE) return [];
  const meet = (list: typeof pairs, one: TaskId, other: TaskId | null): boolean =>
    list.some(({ a, b }) => (a === one && b === other) || (b === one && a === other));
  const mark = (one: TaskId, other: TaskId | null): string => {
    if (one === other) return '';
    const conflict = meet([...collisions], one, other) ? 'x' : '';
    const names = meet([...clashes], one, other) ? 'n' : '';
    return conflict + names || '·';
  };
  const title = ['', ...across.map((id) => (id === null ? HEAD : short(id, 12)))];
  const rows = ids.map((id) => [short(id, 12), ...across.map((other) => mark(id, other))]);
  const cells = [title, ...rows].map((row) => row.map((text): Cell => ({ text })));
  return columns(cells, ink).map((line) => `  ${line}`);
}

function short(id: TaskId, length = 60): string {
  return brief(id, length);
}

interface Fate {
  readonly outcome: string;
  /** Needs a look: both landed, and no gate has tested them together. */
  readonly isOpen: boolean;
}

/** All predictions with their outcome, oldest first. */
export function foreseenClashes(state: RunState): readonly (Finding & Fate)[] {
  return state.findings.map((finding) => ({ ...finding, ...fateOf(state, finding) }));
}

/** A line per name, and one for the outcome. */
export function foreseenLines(state: RunState): readonly string[] {
  const all = foreseenClashes(state);
  const lines = all.slice(0, SHOWN).flatMap((clash) => [
    ...clashSentences(clash)
      .slice(0, SHOWN)
      .map((text, at) => `${at === 0 ? 'Foreseen: ' : '          '}${brief(text, 200)}`),
    `    ${clash.outcome}`,
  ]);
  const rest = all.length - SHOWN;
  return rest > 0 ? [...lines, `… and ${rest} more clashes of names`] : lines;
}

const SHOWN = 5;

function fateOf(state: RunState, { a, b, holds }: Finding): Fate {
  const [one, other] = [state.tasks.get(a), state.tasks.get(b)];
  const back = sentBack(one, b) ? one : sentBack(other, a) ? other : undefined;
  if (back !== undefined) return { outcome: sentBackText(back), isOpen: false };
  if (!holds) return { outcome: 'It was resolved before both were merged.', isOpen: false };
  const bothIn = [one, other].every((task) => task?.status.kind === 'landed');
  if (!bothIn) return { outcome: 'They did not both land.', isOpen: false };
  const { gates, landing } = state.plan;
  if (gates.length > 0 && landing.verify !== 'off') {
    return { outcome: 'Both landed; the gates passed on both together.', isOpen: false };
  }
  const outcome = `Both landed, and no gate has tested them together: ${a} and ${b} may not work together.`;
  return { outcome, isOpen: true };
}

function sentBack(task: TaskState | undefined, other: string): boolean {
  const rejections = task?.rejections ?? [];
  return rejections.some(
    ({ failure }) => failure.kind === 'semantic' && failure.landedSince.includes(other),
  );
}

function sentBackText({ spec, status, attempts, rejections }: TaskState): string {
  const rejected = rejections.findLast(({ failure }) => failure.kind === 'semantic');
  if (attempts.length === rejected?.attempt) return `${spec.id} did not land because of it.`;
  const end = status.kind === 'landed' ? 'then landed' : 'has not landed';
  return `It went back to ${spec.id}, which ${end}.`;
}

export function clashClause(state: RunState): string {
  const first = foreseenClashes(state).find(({ isOpen }) => isOpen);
  return first === undefined ? '' : `, but ${first.a} and ${first.b} may not work together`;
}

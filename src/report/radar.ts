/**
 * What the radar foresees, for people: a table of who collides with whom, and a line each.
 *
 *   M1. Nothing foreseen is nothing shown. Only tasks that collide are in the table, and it is left
 *       out where it would be wider than a terminal.
 */

import type { TaskId } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { brief } from './clean.ts';
import type { Cell, Ink } from './format.ts';
import { columns, count, nameList } from './format.ts';

const MOST_IN_TABLE = 12;
const HEAD = 'head';

/** The lines of `status`; none where nothing is foreseen. */
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
    ...[...state.tasks.values()].flatMap(({ spec, status, attempts }) => {
      const astray = status.kind === 'running' ? (attempts.at(-1)?.astray ?? []) : [];
      return astray.length === 0
        ? []
        : [`${short(spec.id)} changes files outside its scope: ${nameList(astray)}`];
    }),
  ];
  if (lines.length === 0) return [];
  return [ink.paint('warn', 'Radar'), ...matrix(state, ink), ...lines.map((line) => `  ${line}`)];
}

/** Of two that clash one may have landed. */
function nameWords({ tasks }: RunState, a: TaskId, b: TaskId): string {
  const hasLanded = (id: TaskId) => tasks.get(id)?.status.kind === 'landed';
  if (hasLanded(a)) return `${short(a)} has landed, and changes what ${short(b)} uses`;
  const which = hasLanded(b) ? ', which has landed,' : '';
  return `${short(a)} changes what ${short(b)}${which} uses`;
}

/** One line for the live view; null where nothing is foreseen. */
export function radarLine({ radar, tasks }: RunState): string | null {
  const { collisions, clashes } = radar;
  const astray = [...tasks.values()].filter(
    ({ status, attempts }) =>
      status.kind === 'running' && (attempts.at(-1)?.astray.length ?? 0) > 0,
  );
  const pairs = collisions.map(({ a, b }) => `${short(a)} × ${b === null ? HEAD : short(b)}`);
  const parts = [
    ...(pairs.length === 0 ? [] : [`will conflict: ${nameList(pairs, 3)}`]),
    ...(clashes.length === 0 ? [] : [`${count(clashes.length, 'pair')} with changed names`]),
    ...(astray.length === 0
      ? []
      : [
          `astray: ${nameList(
            astray.map(({ spec }) => spec.id),
            3,
          )}`,
        ]),
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

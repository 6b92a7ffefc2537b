/**
 * The work that is measured: tasks that write one small file each, with or without an order between
 * them, in a repository of so many files; and the same work as a plan, in each way to write one.
 *
 *   J1. Every contestant that is given the same tasks leaves the same files with the same content,
 *       so that their trees can be compared.
 *   J2. Each task declares the file it writes, so that this is judged.
 */

import { join } from 'node:path';

/**
 * How landfast is given the work: a native plan for `claude`, a parallel-orchestra manifest (which is
 * for `claude`, too), or a native plan of shell scripts. All of them start the same stand-in.
 */
export const WAYS = ['plan', 'manifest', 'shell'] as const;
export type Way = (typeof WAYS)[number];

/** In the place of `claude`: it does what `promptOf` says. */
export const STAND_IN = join(import.meta.dirname, 'stand-in.sh');
/** What each of its answers says that it cost. */
export const STAND_IN_USD = 0.01;

export interface Task {
  readonly id: string;
  readonly needs: readonly string[];
}

export interface Work {
  /** How many files the repository has. */
  readonly files: number;
  readonly tasks: readonly Task[];
  readonly workers: number;
  /** How long each agent sleeps before it writes; only a shell script can. */
  readonly sleepS: number;
}

/** Work in a repository that was made for it. */
export interface Job extends Work {
  readonly repository: string;
  /** The commit of main before anything happened. */
  readonly start: string;
}

/** Tasks that nothing orders. */
export function independent(count: number): readonly Task[] {
  return numbered(count).map((id) => ({ id, needs: [] }));
}

/** Each task needs the one before. */
export function chain(count: number): readonly Task[] {
  const ids = numbered(count);
  return ids.map((id, index) => ({ id, needs: ids.slice(Math.max(0, index - 1), index) }));
}

/**
 * Diamonds in a row, the last task of one being the first of the next; what is left over at the end
 * is a chain.
 *
 *   1 ─┬─ 2 ─┬─ 4 ─┬─ 5 ─┬─ 7 …
 *      └─ 3 ─┘     └─ 6 ─┘
 */
export function diamonds(count: number): readonly Task[] {
  const ids = numbered(count);
  const whole = count - ((count - 1) % 3);
  return ids.map((id, index) => {
    const before = (steps: number): string => ids[index - steps] ?? '';
    if (index === 0) return { id, needs: [] };
    if (index >= whole || index % 3 === 1) return { id, needs: [before(1)] };
    if (index % 3 === 2) return { id, needs: [before(2)] };
    return { id, needs: [before(2), before(1)] };
  });
}

/** A longest path through the tasks, which are in an order that respects their needs. */
export function criticalPath(tasks: readonly Task[]): readonly Task[] {
  const paths = new Map<string, readonly Task[]>();
  for (const task of tasks) {
    const longest = task.needs
      .map((need) => paths.get(need) ?? [])
      .reduce((best, path) => (path.length > best.length ? path : best), []);
    paths.set(task.id, [...longest, task]);
  }
  return [...paths.values()].reduce((best, path) => (path.length > best.length ? path : best), []);
}

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `task-${index + 1}`);
}

/** The file that a task writes. */
export function fileOf({ id }: Task): string {
  return `${id}.txt`;
}

/** What the stand-in is told to do. */
function promptOf(task: Task): string {
  return `Write ${task.id} to ${fileOf(task)}`;
}

/** A shell script that becomes the stand-in. */
function scriptOf(task: Task, sleepS: number): string {
  const sleep = sleepS > 0 ? `sleep ${sleepS} && ` : '';
  return `${sleep}exec '${STAND_IN}' -p <<'END'\n${promptOf(task)}\nEND\n`;
}

/** A native plan. */
export function planText({ tasks, workers, sleepS }: Work, agent: 'claude' | 'shell'): string {
  const lines = tasks.map((task) => {
    const needs = task.needs.length === 0 ? '' : `needs: [${task.needs.join(', ')}], `;
    const prompt = JSON.stringify(agent === 'shell' ? scriptOf(task, sleepS) : promptOf(task));
    return `  - { id: ${task.id}, ${needs}prompt: ${prompt}, writes: [${fileOf(task)}] }`;
  });
  const head = ['landfast: 1', 'name: bench', 'target: main', `limits: { workers: ${workers} }`];
  return [...head, `defaults: { agent: ${agent} }`, 'tasks:', ...lines, ''].join('\n');
}

/** A manifest of parallel-orchestra that lies in the root of the repository. */
export function manifestText({ tasks }: Work): string {
  const items = tasks.map((task) => {
    const keys = [`id: ${task.id}`, 'agent: bench', 'read_only: false'];
    const needs = task.needs.length === 0 ? [] : [`depends_on: [${task.needs.join(', ')}]`];
    const work = [`writes: [${fileOf(task)}]`, `prompt: "${promptOf(task)}"`];
    return `  - ${[...keys, ...needs, ...work].join('\n    ')}`;
  });
  const head = ['po_plan_version: "0.1"', 'name: bench', 'cwd: "."'];
  return ['---', ...head, 'tasks:', ...items, '---', ''].join('\n');
}

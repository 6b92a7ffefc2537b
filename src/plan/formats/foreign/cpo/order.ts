/**
 * The order of tasks is given up to five times: by waves, `wave`, `deps`, `blocks` and task-graph.md.
 * The waves of the manifest count. A task depends only on earlier waves. `deps` and `blocks` are the
 * same fact from both ends: a difference is a warning, and `blocks` counts too, unless both tasks are
 * in one wave.
 */

import { closest } from '../../../../base/closest.ts';
import { findCycle } from '../../../../model/graph.ts';
import { type ProblemLog, quote, START } from '../../../problem.ts';
import { LINE_BREAK } from '../../../syntax/front-matter.ts';
import { type CpoTask, type Find, finderOf, type Word } from './manifest.ts';

/** By task: the ids it depends on, of earlier waves only. */
export type Order = ReadonlyMap<string, ReadonlySet<string>>;

interface Reference {
  readonly word: Word;
  readonly task: CpoTask;
}

interface Known {
  readonly ids: readonly string[];
  readonly find: Find<CpoTask>;
}

export function readOrder(all: readonly CpoTask[], manifest: ProblemLog): Order {
  const tasks = checkIds(all, manifest);
  const known: Known = { ids: tasks.map(({ id }) => id), find: finderOf(tasks) };
  const order = new Map(tasks.map(({ id }) => [id, new Set<string>()]));
  const deps = new Map<string, readonly Reference[]>();
  for (const task of tasks) {
    checkAgreement(task);
    const named = (task.file?.deps ?? []).flatMap((word) => resolve(word, 'deps', task, known));
    deps.set(task.id, named);
    for (const dep of named) {
      if (isEarlier(dep, task)) order.get(task.id)?.add(dep.task.id);
    }
  }
  checkCycle(tasks, deps);
  const followers = followersOf(tasks, deps);
  for (const task of tasks) checkBlocks(task, { ...known, order, followers });
  return order;
}

function checkIds(tasks: readonly CpoTask[], log: ProblemLog): readonly CpoTask[] {
  const seen = new Map<string, CpoTask>();
  for (const task of tasks) {
    const earlier = seen.get(task.id);
    if (earlier === undefined) seen.set(task.id, task);
    else {
      const where = `wave ${earlier.wave} has it too (line ${earlier.entry.at.line}): rename one`;
      log.error(task.entry.at, `duplicate task id ${quote(task.id)}`, where);
    }
  }
  return [...seen.values()];
}

/** What both the task file and the manifest say. */
function checkAgreement({ id, wave, entry, file }: CpoTask): void {
  if (file === null) return;
  const { log } = file;
  if (file.id !== id) {
    const message = `id ${quote(file.id)} is called ${quote(id)} in the manifest`;
    log.warning(file.idAt, message, 'they are taken for the same task; give both the same id');
  }
  if (file.wave !== null && file.wave !== wave) {
    const message = `wave ${file.wave} here, but wave ${wave} in the manifest`;
    log.warning(file.waveAt, message, 'the manifest wins');
  }
  if (file.agent !== null && entry.agent !== null && file.agent.text !== entry.agent) {
    const message = `agent ${quote(file.agent.text)} here, ${quote(entry.agent)} in the manifest`;
    log.warning(file.agent.at, message, 'the manifest wins');
  }
}

function resolve(
  word: Word,
  key: 'deps' | 'blocks',
  task: CpoTask,
  { find, ids }: Known,
): readonly Reference[] {
  const found = find(word.text);
  if (found !== null) return [{ word, task: found }];
  const log = task.file?.log;
  const guess = log === undefined || log.isFull ? null : closest(word.text, ids);
  const message = `${key} names ${quote(word.text)}, which is not a task in the manifest`;
  const remedy = guess === null ? 'name a task by its id' : `did you mean ${quote(guess)}?`;
  log?.error(word.at, message, remedy);
  return [];
}

function isEarlier({ task: dep, word: { at } }: Reference, task: CpoTask): boolean {
  if (dep.wave < task.wave) return true;
  const log = task.file?.log;
  const names = `${quote(task.id)} depends on ${quote(dep.id)}`;
  if (task.wave === 1) {
    log?.error(at, `${names}, but is in wave 1`, 'a task of wave 1 has no deps: move it to wave 2');
  } else if (dep.wave === task.wave) {
    const remedy = 'tasks of one wave run at the same time: move one of them';
    log?.error(at, `${names}, but both are in wave ${task.wave}`, remedy);
  } else {
    const message = `${names}, but is in wave ${task.wave} and that one in wave ${dep.wave}`;
    log?.error(at, message, 'a task may depend on earlier waves only: move one of them');
  }
  return false;
}

function checkCycle(
  tasks: readonly CpoTask[],
  deps: ReadonlyMap<string, readonly Reference[]>,
): void {
  const needsOf = (id: string) => (deps.get(id) ?? []).map(({ task }) => task.id);
  const cycle = findCycle(tasks.map(({ id }) => ({ id, needs: needsOf(id) })));
  const first = tasks.find(({ id }) => id === cycle?.[0]);
  if (cycle === null || first?.file == null) return;
  const dep = deps.get(first.id)?.find(({ task }) => task.id === cycle[1]);
  const remedy = 'remove one of these from deps: none of the tasks could ever start';
  const message = `cyclic dependency: ${cycle.join(' -> ')}`;
  first.file.log.error(dep?.word.at ?? first.file.idAt, message, remedy);
}

function followersOf(
  tasks: readonly CpoTask[],
  deps: ReadonlyMap<string, readonly Reference[]>,
): ReadonlyMap<string, ReadonlySet<CpoTask>> {
  const followers = new Map(tasks.map(({ id }) => [id, new Set<CpoTask>()]));
  for (const task of tasks) {
    for (const dep of deps.get(task.id) ?? []) followers.get(dep.task.id)?.add(task);
  }
  return followers;
}

function checkBlocks(
  task: CpoTask,
  known: Known & {
    readonly order: ReadonlyMap<string, Set<string>>;
    readonly followers: ReadonlyMap<string, ReadonlySet<CpoTask>>;
  },
): void {
  const { file } = task;
  if (file === null || file.blocks === null) return;
  const blocked = file.blocks.flatMap((word) => resolve(word, 'blocks', task, known));
  for (const { word, task: other } of blocked) {
    const names = `${quote(task.id)} blocks ${quote(other.id)}`;
    if (other.wave === task.wave) {
      const remedy = 'they run at the same time: move the second to a later wave, or remove it';
      file.log.warning(word.at, `${names}, but both are in wave ${task.wave}`, remedy);
    } else if (other.wave < task.wave) {
      const message = `${names}, which is in the earlier wave ${other.wave}`;
      file.log.warning(word.at, message, 'remove it');
    } else if (known.order.get(other.id)?.has(task.id) === false) {
      const remedy = `add ${task.id} to the deps of ${other.id}`;
      if (other.file !== null) file.log.warning(word.at, `${names}, which does not say so`, remedy);
      known.order.get(other.id)?.add(task.id);
    }
  }
  for (const other of known.followers.get(task.id) ?? []) {
    if (other.wave <= task.wave || blocked.some((one) => one.task === other)) continue;
    const message = `${quote(other.id)} depends on ${quote(task.id)}, but is not in its blocks`;
    file.log.warning(file.idAt, message, `add ${other.id} to blocks`);
  }
}

export interface TaskGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  readonly task: string;
  /** That of its subgraph. */
  readonly wave: number | null;
  readonly line: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly line: number;
}

const SHAPE = /([A-Za-z_][\w]*)\s*(?:[[({>]+)\s*"?([^"\])}]*)"?\s*[/\\]?[\])}]+/g;
const ARROW = /\s*<?(?:--+|==+|-\.+-?)(?:[^-=.>|&]+(?:--+|==+|\.+-))?[>ox]?\s*(?:\|[^|]*\|)?\s*/;
const NO_EDGES = /^(?:%%|style|classDef|class|click|linkStyle|direction)\b|^%%/;

/** A longer line is no diagram, and slow to match. */
const MAX_ROW = 1000;
const MAX_EDGES = 10_000;

export function readTaskGraph(text: string): TaskGraph {
  const taskOf = new Map<string, string>();
  const nodes = new Map<string, GraphNode>();
  const edges: GraphEdge[] = [];
  for (const { text: row, line, wave } of chartRows(text)) {
    for (const [, name = '', label = ''] of row.matchAll(SHAPE)) {
      const [task] = /task-\d+[\w-]*/i.exec(label) ?? [];
      if (task !== undefined) taskOf.set(name, task);
      if (task !== undefined && !nodes.has(task)) nodes.set(task, { task, wave, line });
    }
    const groups = row
      .replace(SHAPE, '$1')
      .split(ARROW)
      .map((group) => group.split('&').map((name) => name.replace(/:::.*$/, '').trim()));
    for (const [i, group] of groups.slice(1).entries()) {
      for (const from of groups[i] ?? []) {
        for (const to of group) if (edges.length < MAX_EDGES) edges.push({ from, to, line });
      }
    }
  }
  const named = (name: string): string => taskOf.get(name) ?? name;
  return {
    nodes: [...nodes.values()],
    edges: edges
      .map(({ from, to, line }) => ({ from: named(from), to: named(to), line }))
      .filter(({ from, to }) => /^task-\d/i.test(from) && /^task-\d/i.test(to)),
  };
}

/** The lines of flowcharts that can hold nodes, with the wave of the subgraph around them. */
function* chartRows(text: string): Generator<{ text: string; line: number; wave: number | null }> {
  let inFence = false;
  let inChart = false;
  let waves: (number | null)[] = [];
  for (const [index, line] of text.split(LINE_BREAK).entries()) {
    const row = line.trim().replace(/;$/, '');
    if (/^(?:```|~~~)/.test(row)) {
      inFence = !inFence && /mermaid/i.test(row);
      inChart = false;
      waves = [];
    } else if (inFence && /^(?:flowchart|graph)\b/.test(row)) inChart = true;
    else if (inChart && /^subgraph\b/.test(row)) {
      const [, number] = /wave\s*(\d+)/i.exec(row) ?? /\bW(\d+)\b/.exec(row) ?? [];
      waves.push(number === undefined ? null : Number(number));
    } else if (inChart && row === 'end') waves.pop();
    else if (inChart && row.length <= MAX_ROW && !NO_EDGES.test(row)) {
      yield { text: row, line: index + 1, wave: waves.at(-1) ?? null };
    }
  }
}

export function checkTaskGraph(
  graph: TaskGraph,
  tasks: readonly CpoTask[],
  order: Order,
  log: ProblemLog,
): void {
  if (graph.nodes.length === 0 && graph.edges.length === 0) return;
  const find = finderOf(tasks);
  const drawn = new Set<string>();
  for (const { task: name, wave, line } of graph.nodes) {
    const task = find(name);
    const at = { line, column: 1 };
    if (task === null) log.warning(at, `${quote(name)} is not a task in the manifest`);
    else if (wave !== null && wave !== task.wave) {
      const message = `${quote(task.id)} is drawn in wave ${wave}, but is in wave ${task.wave}`;
      log.warning(at, message, 'the manifest wins');
    }
    if (task !== null) drawn.add(task.id);
  }
  const missing = tasks.filter(({ id }) => !drawn.has(id)).map(({ id }) => quote(id));
  if (missing.length > 0) log.warning(START, `the graph lacks ${missing.join(', ')}`);
  checkEdges(graph, find, order, log);
}

function checkEdges(
  { edges }: TaskGraph,
  find: Find<CpoTask>,
  order: Order,
  log: ProblemLog,
): void {
  const drawn = new Set<string>();
  for (const { from, to, line } of edges) {
    const [first, second] = [find(from), find(to)];
    if (first === null || second === null) continue;
    drawn.add(`${first.id} ${second.id}`);
    const arrow = `${quote(first.id)} -> ${quote(second.id)}`;
    const at = { line, column: 1 };
    if (first.wave >= second.wave) {
      const message = `${arrow}, but the waves are ${first.wave} and ${second.wave}`;
      log.warning(at, message, 'the manifest wins');
    } else if (second.file !== null && order.get(second.id)?.has(first.id) === false) {
      log.warning(at, `${arrow}, but ${second.id} does not depend on it`, 'its deps win');
    }
  }
  const lacking = [...order].flatMap(([id, deps]) =>
    [...deps].filter((dep) => !drawn.has(`${dep} ${id}`)).map((dep) => `${dep} -> ${id}`),
  );
  if (lacking.length > 0 && edges.length > 0) {
    log.warning(START, `the graph lacks the edges ${lacking.join(', ')}`);
  }
}

/**
 * task-graph.md: a Mermaid flowchart for people, checked against the manifest.
 *
 *   G1. A node is known by the `task-NNN` in its label, whatever it is called: `T10[task-010<br/>…]`.
 *   G2. The graph never changes the plan: each difference is a warning with its line.
 */

import { LINE_BREAK } from '../../front-matter.ts';
import { type ProblemLog, quote, START } from '../../problem.ts';
import { type Find, finderOf } from './fields.ts';
import type { Order } from './order.ts';
import type { CpoTask } from './task.ts';

export interface TaskGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

export interface GraphNode {
  /** The id in the label. */
  readonly task: string;
  /** The wave of the subgraph it stands in. */
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

/** A longer line is no picture, and would take long to understand. */
const MAX_ROW = 1000;
/** More arrows than anybody draws. */
const MAX_EDGES = 10_000;

/** Reads every flowchart of the text. */
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

/** Warns of each difference between the graph and the manifest. */
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
    if (task === null) log.warning(at, `${quote(name)} is no task of the manifest`);
    else if (wave !== null && wave !== task.wave) {
      const message = `${quote(task.id)} is drawn in wave ${wave}, but is in wave ${task.wave}`;
      log.warning(at, message, 'the manifest counts');
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
      log.warning(at, message, 'the manifest counts');
    } else if (second.file !== null && order.get(second.id)?.has(first.id) === false) {
      log.warning(at, `${arrow}, but ${second.id} does not depend on it`, 'its deps count');
    }
  }
  const lacking = [...order].flatMap(([id, deps]) =>
    [...deps].filter((dep) => !drawn.has(`${dep} ${id}`)).map((dep) => `${dep} -> ${id}`),
  );
  if (lacking.length > 0 && edges.length > 0) {
    log.warning(START, `the graph lacks the edges ${lacking.join(', ')}`);
  }
}

/**
 * Batches become tasks, each with what it needs:
 *
 *   G1. A batch needs all tasks of the batch in front of it, or of those in its `depends_on`. An
 *       empty batch passes that on.
 *   G2. Agents of a parallel batch are independent; the others form a chain.
 *   G3. What a fan-out batch has said is heard by every task of the batches right behind it, and
 *       only there.
 *   G4. Ids are made from the batch and the agent, and never collide.
 */

import { quoted } from '../../../base/shell-word.ts';
import { findCycle } from '../../../model/graph.ts';
import type { TaskId, TaskSpec } from '../../../model/plan.ts';
import { type ProblemLog, quote } from '../../problem.ts';
import { freeId, slugOf } from '../../slug.ts';
import { closest } from '../../suggest.ts';
import type { Placed } from './fields.ts';
import type { Batch, DispatchAgent, Manifest } from './manifest.ts';
import { checkOwners } from './owners.ts';

/** What all tasks of a kind have alike: the agents of the manifest, and the scripts that look. */
export interface Bases {
  readonly agent: TaskSpec;
  readonly script: TaskSpec;
}

/** The tasks of a manifest, in the order of the text. */
export function tasksOf(manifest: Manifest, bases: Bases, log: ProblemLog): readonly TaskSpec[] {
  checkDependencies(manifest.batches, log);
  if (log.failed) return [];
  const tasks = new GraphBuilder(manifest.batches, bases, log).build();
  if (tasks.length === 0) {
    log.error(manifest.batches[0]!.at, 'no batch has an agent', 'add agents: [ … ]');
  }
  return tasks;
}

/** Agents that bring work to a branch, which here is done by landing. */
const COMMITTERS = /^(?:commit|push|merge)(?:ter|er)?$|^git-(?:commit|push)/i;

function checkDependencies(batches: readonly Batch[], log: ProblemLog): void {
  const ids = new Set(batches.map(({ id }) => id));
  const unknown = ({ value, at }: Placed<string>, batch: Batch): void => {
    if (ids.has(value)) return;
    const guess = log.isFull ? null : closest(value, ids);
    const remedy = guess === null ? `there are ${[...ids].join(', ')}` : `did you mean ${guess}?`;
    log.error(at, `batch ${batch.id}: depends_on names no batch: ${quote(value)}`, remedy);
  };
  for (const batch of batches) {
    for (const wish of wishesOf(batch)) unknown(wish, batch);
  }
  if (ids.size < batches.length) return; // Two of one id would look like a circle.
  const graph = batches.map((batch, index) => {
    const before = batch.dependsOn === undefined ? (batches[index - 1]?.id ?? []) : [];
    const named = wishesOf(batch).map(({ value }) => value);
    return { id: batch.id, needs: [before, named].flat().filter((id) => ids.has(id)) };
  });
  const cycle = findCycle(graph);
  if (cycle === null) return;
  const first = batches.find(({ id }) => id === cycle[0])!;
  const at = wishesOf(first)[0]?.at ?? first.at;
  const remedy = 'remove one of these from depends_on: none of the batches could ever start';
  log.error(at, `batches wait for each other: ${cycle.join(' -> ')}`, remedy);
}

/** Every batch that is named by the batch or by one of its agents. */
function wishesOf({ dependsOn = [], agents }: Batch): readonly Placed<string>[] {
  return [...dependsOn, ...agents.flatMap((agent) => agent.dependsOn)];
}

/** What others see of a batch that has become tasks. */
interface Built {
  /** What a batch behind it needs. */
  readonly ends: readonly TaskId[];
  /** What a batch behind it hears. */
  readonly heard: readonly TaskId[];
}

class GraphBuilder {
  readonly #batches: readonly Batch[];
  readonly #bases: Bases;
  readonly #log: ProblemLog;
  readonly #used = new Set<TaskId>();
  readonly #built = new Map<string, Built>();
  readonly #tasks = new Map<Batch, readonly TaskSpec[]>();

  constructor(batches: readonly Batch[], bases: Bases, log: ProblemLog) {
    this.#batches = batches;
    this.#bases = bases;
    this.#log = log;
  }

  build(): readonly TaskSpec[] {
    // A batch may depend on a later one: it is built when somebody asks for it.
    for (const batch of this.#batches) this.#batch(batch.id);
    return this.#batches.flatMap((batch) => this.#tasks.get(batch) ?? []);
  }

  #batch(id: string): Built {
    const known = this.#built.get(id);
    if (known !== undefined) return known;
    const index = this.#batches.findIndex((batch) => batch.id === id);
    const batch = this.#batches[index]!;
    const before = this.#before(batch, index).map((name) => this.#batch(name));
    const needs = unique(before.flatMap(({ ends }) => ends));
    const hears = unique(before.flatMap(({ heard }) => heard));
    const agents = this.#agents(batch, needs, hears);
    const checks = batch.verifyFiles.length === 0 ? [] : [this.#verify(batch, agents, needs)];
    const tasks = [...agents, ...checks];
    this.#tasks.set(batch, tasks);
    const ids = agents.map((task) => task.id);
    const last = checks.length > 0 ? checks.map((task) => task.id) : ids;
    const heard = batch.isFanOut ? ids : agents.length === 0 ? hears : [];
    const built = { ends: last.length > 0 ? last : needs, heard };
    this.#built.set(id, built);
    return built;
  }

  #before({ dependsOn }: Batch, index: number): readonly string[] {
    if (dependsOn !== undefined) return unique(dependsOn.map(({ value }) => value));
    const previous = this.#batches[index - 1];
    return previous === undefined ? [] : [previous.id];
  }

  #agents(batch: Batch, needs: readonly TaskId[], hears: readonly TaskId[]): readonly TaskSpec[] {
    const tasks: TaskSpec[] = [];
    for (const agent of batch.agents) {
      const own = unique(agent.dependsOn.map(({ value }) => value)).map((id) => this.#batch(id));
      const chain = batch.isParallel ? undefined : tasks.at(-1)?.id;
      const first = chain === undefined ? needs : [chain];
      const all = [...first, ...own.flatMap(({ ends }) => ends), ...hears];
      tasks.push(this.#task(batch, agent, { needs: unique(all), hears }));
    }
    if (batch.isParallel) {
      const owners = tasks.map((task, i) => ({ task: task.id, owns: batch.agents[i]!.owns }));
      checkOwners(owners, this.#log);
    }
    return tasks;
  }

  #task(batch: Batch, agent: DispatchAgent, order: Pick<TaskSpec, 'needs' | 'hears'>): TaskSpec {
    const id = freeId(`b${slugOf(batch.id)}-${slugOf(agent.type)}`, this.#used);
    const writes = unique(agent.owns.map(({ value }) => value));
    if (COMMITTERS.test(agent.type)) {
      const message = `batch ${batch.id}: ${agent.type} finds its work done`;
      const remedy = 'what agents change is committed and landed for them; nothing is pushed';
      this.#log.warning(agent.at, message, remedy);
    }
    return {
      ...this.#bases.agent,
      id,
      prompt: agent.prompt,
      ...(agent.type === 'main' ? {} : { role: agent.type }),
      ...order,
      writes,
      // Who owns files is there to change them; a reviewer or a committer has nothing to change.
      allowEmpty: writes.length === 0,
    };
  }

  /** A script that looks whether each file is there and holds something. */
  #verify(batch: Batch, agents: readonly TaskSpec[], before: readonly TaskId[]): TaskSpec {
    const lines = batch.verifyFiles.map((path) => `check ${quoted(path)}`);
    return {
      ...this.#bases.script,
      id: freeId(`b${slugOf(batch.id)}-verify-files`, this.#used),
      title: `The files of batch ${batch.id} are there`,
      prompt: `${CHECK}\n${lines.join('\n')}\nexit $missing\n`,
      needs: agents.length > 0 ? agents.map((task) => task.id) : before,
      retries: 0,
    };
  }
}

const CHECK = `missing=0
check() {
  [ -s "$1" ] && return
  echo "missing or empty: $1" >&2
  missing=1
}`;

function unique<T>(items: readonly T[]): readonly T[] {
  return [...new Set(items)];
}

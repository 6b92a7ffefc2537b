/**
 * Batches become tasks, each with what it needs. A batch needs all tasks of the batch before it, or of
 * those in its `depends_on`; an empty batch passes that on. Agents of a parallel batch are independent,
 * others form a chain. The next batches hear what a fan-out batch said.
 */

import { closest } from '../../../../base/closest.ts';
import { quoted } from '../../../../base/shell-word.ts';
import { findCycle } from '../../../../model/graph.ts';
import type { TaskId, TaskSpec } from '../../../../model/plan.ts';
import { isLiteral, overlaps } from '../../../../model/scope.ts';
import { type ProblemLog, quote } from '../../../problem.ts';
import { freeId, slugOf } from '../../../task-ids.ts';
import type { Batch, DispatchAgent, Manifest, Placed } from './manifest.ts';

/** What all tasks of a kind share. */
export interface Bases {
  readonly agent: TaskSpec;
  readonly script: TaskSpec;
}

export function tasksOf(manifest: Manifest, bases: Bases, log: ProblemLog): readonly TaskSpec[] {
  checkDependencies(manifest.batches, log);
  if (log.failed) return [];
  const tasks = new GraphBuilder(manifest.batches, bases, log).build();
  if (tasks.length === 0) {
    log.error(manifest.batches[0]!.at, 'no batch has an agent', 'add agents: [ … ]');
  }
  return tasks;
}

/** Agents that commit or push, which landing does here. */
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
    for (const dependency of dependenciesOf(batch)) unknown(dependency, batch);
  }
  const graph = batches.map((batch) => {
    const before = batch.dependsOn === undefined ? (batches[batch.index - 1] ?? []) : [];
    const named = dependenciesOf(batch).flatMap(({ value }) => batchesNamed(value, batch, batches));
    return { id: keyOf(batch), needs: [before, named].flat().map(keyOf) };
  });
  const cycle = findCycle(graph)?.map((key) => batches[Number(key)]!);
  const [first] = cycle ?? [];
  if (cycle === undefined || first === undefined) return;
  const at = dependenciesOf(first)[0]?.at ?? first.at;
  const way = cycle.map(({ id }) => id).join(' -> ');
  const remedy = 'remove one of these from depends_on: none of the batches could ever start';
  log.error(at, `batches wait for each other: ${way}`, remedy);
}

function keyOf({ index }: Batch): string {
  return String(index);
}

/** An id that several batches have means those before, or all if there are none. */
function batchesNamed(id: string, from: Batch, batches: readonly Batch[]): readonly Batch[] {
  const all = batches.filter((batch) => batch.id === id);
  if (all.length === 1) return all;
  const before = all.filter(({ index }) => index < from.index);
  return before.length > 0 ? before : all.filter((batch) => batch !== from);
}

function dependenciesOf({ dependsOn = [], agents }: Batch): readonly Placed<string>[] {
  return [...dependsOn, ...agents.flatMap((agent) => agent.dependsOn)];
}

interface Built {
  /** What the next batch needs. */
  readonly ends: readonly TaskId[];
  /** What the next batch hears. */
  readonly heard: readonly TaskId[];
}

class GraphBuilder {
  readonly #batches: readonly Batch[];
  readonly #bases: Bases;
  readonly #log: ProblemLog;
  readonly #used = new Set<TaskId>();
  readonly #built = new Map<Batch, Built>();
  readonly #tasks = new Map<Batch, readonly TaskSpec[]>();

  constructor(batches: readonly Batch[], bases: Bases, log: ProblemLog) {
    this.#batches = batches;
    this.#bases = bases;
    this.#log = log;
  }

  build(): readonly TaskSpec[] {
    // A batch may depend on a later one, which is then built first.
    for (const batch of this.#batches) this.#batch(batch);
    return this.#batches.flatMap((batch) => this.#tasks.get(batch) ?? []);
  }

  #batch(batch: Batch): Built {
    const known = this.#built.get(batch);
    if (known !== undefined) return known;
    const before = this.#before(batch).map((each) => this.#batch(each));
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
    this.#built.set(batch, built);
    return built;
  }

  #before(batch: Batch): readonly Batch[] {
    if (batch.dependsOn !== undefined) return this.#named(batch.dependsOn, batch);
    const previous = this.#batches[batch.index - 1];
    return previous === undefined ? [] : [previous];
  }

  #named(ids: readonly Placed<string>[], from: Batch): readonly Batch[] {
    return unique(ids.flatMap(({ value }) => batchesNamed(value, from, this.#batches)));
  }

  #agents(batch: Batch, needs: readonly TaskId[], hears: readonly TaskId[]): readonly TaskSpec[] {
    const tasks: TaskSpec[] = [];
    for (const agent of batch.agents) {
      const own = this.#named(agent.dependsOn, batch).map((each) => this.#batch(each));
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
      const message = `batch ${batch.id}: ${agent.type} has nothing to do`;
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
      // An agent that owns files must change some; a reviewer or a committer need not.
      allowEmpty: writes.length === 0,
    };
  }

  /** A script that fails if a file is missing or empty. */
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

export interface Owner {
  readonly task: TaskId;
  readonly owns: readonly Placed<string>[];
}

/** Each glob is compared with every path; beyond this only the scheduler keeps them apart. */
const MAX_COMPARED = 100_000;

/** Reports each path that two of these agents own, who may run at the same time. */
export function checkOwners(owners: readonly Owner[], log: ProblemLog): void {
  const claims = owners.flatMap(({ task, owns }) => owns.map((path) => ({ task, path })));
  const exact = new Claims();
  const inside = new Claims();
  for (const claim of claims.filter(({ path }) => isLiteral(path.value))) {
    const folders = foldersOf(claim.path.value);
    const above = folders.map((folder) => exact.ofAnother(folder, claim.task));
    const earlier = above.find((found) => found !== undefined);
    const other = earlier ?? inside.ofAnother(claim.path.value, claim.task);
    if (other !== undefined) report(other, claim, log);
    exact.add(claim.path.value, claim);
    for (const folder of folders.slice(0, -1)) inside.add(folder, claim);
  }
  const globs = claims.filter(({ path }) => !isLiteral(path.value));
  for (const glob of globs.slice(0, Math.ceil(MAX_COMPARED / (claims.length + 1)))) {
    const other = claims.find(
      ({ task, path }) => task !== glob.task && overlaps([path.value], [glob.path.value]),
    );
    if (other !== undefined) report(other, glob, log);
  }
}

interface Claim {
  readonly task: TaskId;
  readonly path: Placed<string>;
}

/** Claims by path; two per path are enough to find one of another task. */
class Claims {
  readonly #byPath = new Map<string, readonly Claim[]>();

  add(path: string, claim: Claim): void {
    const known = this.#byPath.get(path) ?? [];
    const isNew = known.every(({ task }) => task !== claim.task);
    if (isNew && known.length < 2) this.#byPath.set(path, [...known, claim]);
  }

  ofAnother(path: string, task: TaskId): Claim | undefined {
    return this.#byPath.get(path)?.find((claim) => claim.task !== task);
  }
}

function foldersOf(path: string): readonly string[] {
  const steps = path.split('/');
  return steps.map((_, index) => steps.slice(0, index + 1).join('/'));
}

function report(one: Claim, other: Claim, log: ProblemLog): void {
  const shared = one.path.value === other.path.value ? '' : ` and ${quote(one.path.value)}`;
  log.error(
    other.path.at,
    `conflict: ${one.task} and ${other.task} own ${quote(other.path.value)}${shared} at the same time`,
    'give each its own files, or make the batch sequential',
  );
}

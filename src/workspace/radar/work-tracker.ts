/**
 * work-tracker: all work that has not landed, and what each piece changes. The workspace of a
 * running task is watched (change-tracker.ts); finished work is a commit; a task between two
 * attempts stays as it was last seen. Each look compares one workspace as a whole, in turn, and so
 * finds what the kernel missed.
 */

import { rethrowBug } from '../../base/errors.ts';
import { differences } from '../../git/diff.ts';
import { filesOf } from '../../git/trees.ts';
import type { Sha, TaskId, TaskSpec } from '../../model/plan.ts';
import { isOver, type RunState, type TaskState } from '../../model/state.ts';
import { workspaceDir } from '../folders.ts';
import type { RunContext } from '../run-context.ts';
import { type BaseFiles, ChangeTracker } from './change-tracker.ts';
import type { Changes } from './overlap.ts';

const LOOKS_AT_ONCE = 4;

export interface TrackedWork {
  readonly spec: TaskSpec;
  readonly attempt: number;
  readonly base: Sha;
  readonly changes: Changes;
  /** Null once the work is finished. */
  readonly live: ChangeTracker | null;
  readonly work: Sha | null;
}

export class WorkTracker {
  readonly #context: RunContext;
  readonly #tracked = new Map<TaskId, TrackedWork>();
  readonly #bases = new Map<Sha, Promise<ReadonlyMap<string, Sha>>>();
  #turn = 0;

  constructor(context: RunContext) {
    this.#context = context;
  }

  get tracked(): ReadonlyMap<TaskId, TrackedWork> {
    return this.#tracked;
  }

  filesAt(base: Sha, signal: AbortSignal): Promise<ReadonlyMap<string, Sha>> {
    const known =
      this.#bases.get(base) ?? filesOf(this.#context.repository.commonDir, base, signal);
    this.#bases.set(base, known);
    return known;
  }

  /** Looks once at all work that started before `until`; returns the tasks whose work changed. */
  async look(state: RunState, until: number, signal: AbortSignal): Promise<ReadonlySet<TaskId>> {
    const tasks = [...state.tasks.values()].filter(isAround);
    for (const id of this.#tracked.keys()) {
      if (!tasks.some(({ spec }) => spec.id === id)) this.#drop(id);
    }
    const baseFiles = this.#baseFiles(tasks, signal);
    this.#turn += 1;
    const whole = tasks.length === 0 ? 0 : this.#turn % tasks.length;
    const changed = new Set<TaskId>();
    const queue = [...tasks.entries()];
    const lookNext = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [at, task] = next;
        const how = { whole: at === whole, baseFiles, until };
        const isNew = await this.#lookAt(task, how, signal).catch((error: unknown) => {
          rethrowBug(error);
          signal.throwIfAborted();
          // The workspace may be on its way out; if it exists, the next look starts over.
          this.#tracked.get(task.spec.id)?.live?.restart();
          return false;
        });
        if (isNew) changed.add(task.spec.id);
      }
    };
    await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, lookNext));
    return changed;
  }

  /** Forgets everything; the next look starts over. */
  close(): void {
    for (const id of [...this.#tracked.keys()]) this.#drop(id);
    this.#bases.clear();
  }

  #drop(id: TaskId): void {
    this.#tracked.get(id)?.live?.close();
    this.#tracked.delete(id);
  }

  async #lookAt(
    task: TaskState,
    how: { readonly whole: boolean; readonly baseFiles: BaseFiles; readonly until: number },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { spec } = task;
    const work = workOf(task);
    const before = this.#tracked.get(spec.id);
    if (work !== null) return before?.work !== work && this.#finish(task, work, signal);
    if (task.status.kind !== 'running' || lastOf(task).startedAt > how.until) return false;
    const member = this.#live(task, how.baseFiles);
    const { live } = member;
    if (live === null || !(await live.look(how.whole, signal))) return false;
    const changes = new Map([...live.seen].map(([path, { how }]) => [path, how]));
    this.#tracked.set(spec.id, { ...member, changes });
    return true;
  }

  /** The tracked work of a running attempt; a new attempt starts over. */
  #live(task: TaskState, baseFiles: BaseFiles): TrackedWork {
    const { spec } = task;
    const { attempt, base, start } = lastOf(task);
    const before = this.#tracked.get(spec.id);
    if (before?.attempt === attempt && before.live !== null) return before;
    before?.live?.close();
    const dir = workspaceDir(this.#context, spec.id);
    const live = new ChangeTracker({ dir, base, isRework: start.kind === 'rework' }, baseFiles);
    const changes = before?.changes ?? new Map();
    const member = { spec, attempt, base, changes, live, work: null };
    this.#tracked.set(spec.id, member);
    return member;
  }

  async #finish(task: TaskState, work: Sha, signal: AbortSignal): Promise<boolean> {
    const { spec } = task;
    const { attempt, base } = lastOf(task);
    const changes = await differences(this.#context.repository.commonDir, base, work, signal);
    this.#tracked.get(spec.id)?.live?.close();
    this.#tracked.set(spec.id, { spec, attempt, base, changes, live: null, work });
    return true;
  }

  #baseFiles(tasks: readonly TaskState[], signal: AbortSignal): BaseFiles {
    const used = new Set(tasks.map((task) => lastOf(task).base));
    for (const base of this.#bases.keys()) if (!used.has(base)) this.#bases.delete(base);
    return (base) => this.filesAt(base, signal);
  }
}

/** It may have work that has not landed. */
function isAround(task: TaskState): boolean {
  const { spec, workspace, attempts } = task;
  if (spec.mode !== 'write' || workspace !== 'live' || isOver(task)) return false;
  return (attempts.at(-1)?.base ?? null) !== null;
}

function workOf({ status }: TaskState): Sha | null {
  if (status.kind === 'committed' || status.kind === 'merging') return status.commit;
  return status.kind === 'stopped' ? status.work : null;
}

function lastOf({ attempts }: TaskState) {
  const last = attempts.at(-1)!;
  const { attempt, start, startedAt } = last;
  return { attempt, base: last.base!, start, startedAt };
}

/**
 * Whose work there is, live or finished, and what each of them changes.
 *
 *   O1. A running task's workspace is looked at (sighting.ts); finished work is a commit and stays
 *       as it is; a task between two attempts stays as it was seen last.
 *   O2. One workspace a look is compared as a whole, in turn: what the kernel did not tell comes to
 *       light all the same, a little later.
 */

import { filesOf } from '../../git/blobs.ts';
import { differences } from '../../git/diff.ts';
import type { Sha, TaskId, TaskSpec } from '../../model/plan.ts';
import { isOver, type RunState, type TaskState } from '../../model/state.ts';
import { type Ground, workspaceDir } from '../ground.ts';
import type { Changes } from './reach.ts';
import { type FilesOfBase, Sighting } from './sighting.ts';

/** How many workspaces are looked at side by side. */
const EYES = 4;

/** One task's work as it is now. */
export interface Member {
  readonly spec: TaskSpec;
  readonly attempt: number;
  readonly base: Sha;
  readonly changes: Changes;
  /** Null once the work is finished. */
  readonly sighting: Sighting | null;
  readonly work: Sha | null;
}

export class Lookout {
  readonly #ground: Ground;
  readonly #members = new Map<TaskId, Member>();
  readonly #bases = new Map<Sha, Promise<ReadonlyMap<string, Sha>>>();
  #turn = 0;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  get members(): ReadonlyMap<TaskId, Member> {
    return this.#members;
  }

  /** The files of a commit that somebody's work began with. */
  filesAt(base: Sha, signal: AbortSignal): Promise<ReadonlyMap<string, Sha>> {
    const known = this.#bases.get(base) ?? filesOf(this.#ground.repository.commonDir, base, signal);
    this.#bases.set(base, known);
    return known;
  }

  /**
   * Looks at everybody once who began until then; answers whose work is different from before.
   */
  async look(state: RunState, until: number, signal: AbortSignal): Promise<ReadonlySet<TaskId>> {
    const tasks = [...state.tasks.values()].filter(isAround);
    for (const id of this.#members.keys()) {
      if (!tasks.some(({ spec }) => spec.id === id)) this.#drop(id);
    }
    const filesOfBase = this.#filesOfBase(tasks, signal);
    this.#turn += 1;
    const whole = tasks.length === 0 ? 0 : this.#turn % tasks.length;
    const changed = new Set<TaskId>();
    const queue = [...tasks.entries()];
    const eye = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [at, task] = next;
        const how = { whole: at === whole, filesOfBase, until };
        const isNew = await this.#lookAt(task, how, signal).catch(() => this.#missed(task, signal));
        if (isNew) changed.add(task.spec.id);
      }
    };
    await Promise.all(Array.from({ length: EYES }, eye));
    return changed;
  }

  /** The workspace may just be going; if it is there, it is looked at anew. */
  #missed({ spec }: TaskState, signal: AbortSignal): boolean {
    signal.throwIfAborted();
    this.#members.get(spec.id)?.sighting?.restart();
    return false;
  }

  /** Forgets everything that was seen: the next look begins anew. */
  close(): void {
    for (const id of [...this.#members.keys()]) this.#drop(id);
    this.#bases.clear();
  }

  #drop(id: TaskId): void {
    this.#members.get(id)?.sighting?.close();
    this.#members.delete(id);
  }

  async #lookAt(
    task: TaskState,
    how: { readonly whole: boolean; readonly filesOfBase: FilesOfBase; readonly until: number },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { spec } = task;
    const work = workOf(task);
    const before = this.#members.get(spec.id);
    if (work !== null) return before?.work !== work && this.#finish(task, work, signal);
    if (task.status.kind !== 'running' || lastOf(task).startedAt > how.until) return false;
    const member = this.#live(task, how.filesOfBase);
    const { sighting } = member;
    if (sighting === null || !(await sighting.look(how.whole, signal))) return false;
    const changes = new Map([...sighting.seen].map(([path, { how }]) => [path, how]));
    this.#members.set(spec.id, { ...member, changes });
    return true;
  }

  /** The member for a running attempt; a new attempt is looked at anew. */
  #live(task: TaskState, filesOfBase: FilesOfBase): Member {
    const { spec } = task;
    const { attempt, base, start } = lastOf(task);
    const before = this.#members.get(spec.id);
    if (before?.attempt === attempt && before.sighting !== null) return before;
    before?.sighting?.close();
    const dir = workspaceDir(this.#ground, spec.id);
    const sighting = new Sighting({ dir, base, isRework: start.kind === 'rework' }, filesOfBase);
    const changes = before?.changes ?? new Map();
    const member = { spec, attempt, base, changes, sighting, work: null };
    this.#members.set(spec.id, member);
    return member;
  }

  async #finish(task: TaskState, work: Sha, signal: AbortSignal): Promise<boolean> {
    const { spec } = task;
    const { attempt, base } = lastOf(task);
    const changes = await differences(this.#ground.repository.commonDir, base, work, signal);
    this.#members.get(spec.id)?.sighting?.close();
    this.#members.set(spec.id, { spec, attempt, base, changes, sighting: null, work });
    return true;
  }

  #filesOfBase(tasks: readonly TaskState[], signal: AbortSignal): FilesOfBase {
    const used = new Set(tasks.map((task) => lastOf(task).base));
    for (const base of this.#bases.keys()) if (!used.has(base)) this.#bases.delete(base);
    return (base) => this.filesAt(base, signal);
  }
}

/** It has written something, or may, that has not landed. */
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

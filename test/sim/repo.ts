/**
 * A git repository as far as landing needs one: commits that contain commits, and two refs that are
 * moved by compare-and-swap. It outlives every engine of a world.
 *
 *   N1. A ref moves only from where its mover says it is; losing that race is an answer.
 *   N2. A task's work enters the run's branch at most once, whoever asks for it.
 */

import type { Sha, TaskId } from '../../src/model/plan.ts';
import { Violation } from './violation.ts';

export class Repo {
  readonly base: Sha | null;
  /** The run's branch. */
  head: Sha | null;
  /** The branch to publish to. */
  target: Sha | null;
  /** What has landed, in order: the truth that the journal must agree with. */
  readonly landings: { readonly task: TaskId; readonly work: Sha }[] = [];
  /** Work that stays on its branch. */
  readonly delivered = new Map<TaskId, Sha>();
  /** Whose changes a commit has: those of its history, and of what was rewritten into it. */
  readonly #contains = new Map<Sha, ReadonlySet<Sha>>();
  readonly #history = new Map<Sha, ReadonlySet<Sha>>();
  /** The work of each candidate. */
  readonly #works = new Map<Sha, Sha>();
  /** Candidates whose gates have passed. */
  readonly green = new Set<Sha>();
  #made = 0;

  constructor(base: Sha | null) {
    this.base = base;
    this.head = base;
    this.target = base;
    if (base === null) return;
    this.#contains.set(base, new Set([base]));
    this.#history.set(base, new Set([base]));
  }

  contains(commit: Sha | null, other: Sha): boolean {
    return commit !== null && this.#contains.get(commit)?.has(other) === true;
  }

  /** Whether a ref holds the commit itself, not only its changes. */
  isReachable(commit: Sha): boolean {
    const tips = [this.head, ...this.delivered.values()];
    return tips.some((tip) => tip !== null && this.#history.get(tip)?.has(commit) === true);
  }

  /** A new commit on top of others, with the changes of more. */
  commit(name: string, parents: readonly Sha[], rewritten: readonly Sha[] = []): Sha {
    this.#made += 1;
    const sha = `${name}-${this.#made}`;
    this.#contains.set(sha, below(this.#contains, sha, [...parents, ...rewritten]));
    this.#history.set(sha, below(this.#history, sha, parents));
    return sha;
  }

  /** A commit that somebody made before the run began. */
  bring(sha: Sha): void {
    const parents = this.base === null ? [] : [this.base];
    this.#contains.set(sha, below(this.#contains, sha, parents));
    this.#history.set(sha, below(this.#history, sha, parents));
  }

  /** Leaves the work on its branch, for good. */
  deliver(task: TaskId, work: Sha): void {
    const before = this.delivered.get(task);
    if (before !== undefined && before !== work)
      throw new Violation(`${task} is delivered twice: ${before}, ${work}`);
    this.delivered.set(task, work);
  }

  /** A merge of the work, or its changes alone, that nothing points to yet. */
  candidate(work: Sha, { onto, keeps }: { onto: Sha; keeps: boolean }): Sha {
    const commit = keeps
      ? this.commit('candidate', [onto, work])
      : this.commit('candidate', [onto], [work]);
    this.#works.set(commit, work);
    return commit;
  }

  /**
   * Moves the run's branch to the last of these candidates, with all before it; false where it is
   * not where it was said to be.
   */
  land(onto: Sha, candidates: readonly { readonly task: TaskId; readonly commit: Sha }[]): boolean {
    let below = onto;
    if (this.head !== onto) return false;
    for (const { task, commit } of candidates) {
      const work = this.#works.get(commit);
      if (work === undefined || !this.contains(commit, below)) {
        throw new Violation(`${commit} is not built on ${below}`);
      }
      const before = this.landings.find((landing) => landing.task === task);
      if (before !== undefined) throw new Violation(`${task} lands twice: ${before.work}, ${work}`);
      this.landings.push({ task, work });
      below = commit;
    }
    this.head = below;
    return true;
  }

  /** Brings the target to a head that it does not hold yet. */
  publish(head: Sha): void {
    if (this.contains(this.target, head)) return;
    if (this.target === null || !this.contains(head, this.target)) {
      throw new Violation(`publishing ${head} would lose ${this.target}`);
    }
    this.target = head;
  }

  /** The landed work of a task; null where none of it is in the head. */
  landedWork(task: TaskId): Sha | null {
    return this.landings.find((landing) => landing.task === task)?.work ?? null;
  }
}

function below(
  known: ReadonlyMap<Sha, ReadonlySet<Sha>>,
  sha: Sha,
  parents: readonly Sha[],
): ReadonlySet<Sha> {
  const all = parents.map((parent) => {
    const contained = known.get(parent);
    if (contained === undefined) throw new Violation(`a commit on an unknown one: ${parent}`);
    return [...contained];
  });
  return new Set([sha, ...all.flat()]);
}

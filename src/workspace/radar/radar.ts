/**
 * The conflict radar: while agents work, their changes are merged in memory, pairwise and with the
 * candidates that are about to land. Expected conflicts are reported when they appear and when they
 * are gone. Work that merges is checked for clashing names, too (clashing-names.ts).
 *
 * It only reads (change-tracker.ts). Only changed work is examined, and only pairs that could
 * conflict are merged, most overlap first. A failed look reports nothing, and the next one starts
 * over.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { rethrowBug } from '../../base/errors.ts';
import { differences } from '../../git/diff.ts';
import { conflictsOf } from '../../git/merge-tree.ts';
import type { RadarEvent } from '../../model/event.ts';
import type { Sha, TaskId, TaskSpec } from '../../model/plan.ts';
import { inScope } from '../../model/scope.ts';
import { chainOf, type RunState } from '../../model/state.ts';
import type { RunContext } from '../run-context.ts';
import { LandedNames, SemanticGuard } from './clashing-names.ts';
import { type Changes, overlap } from './overlap.ts';
import { type TrackedWork, WorkTracker } from './work-tracker.ts';

const EVERY_MS = 2_000;
const MOST_MERGES = 64;
/** The share of time that looks may take; on a busy machine most of it is waiting. */
const SHARE = 1 / 4;

export async function watchWork(
  context: RunContext,
  look: () => RunState,
  report: (fact: RadarEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const { radar: every = EVERY_MS, strategy } = context.plan.landing;
  if (every === 'off' || !isWorthwhile(context)) return;
  const radar = new Radar(context, { report, lands: strategy !== 'none' });
  try {
    for (let wait = every; ; ) {
      await sleep(wait, undefined, { signal });
      const began = performance.now();
      // Work that has just started has no changes yet, and may be done before the next look.
      const until = Date.now() - every;
      await radar.look(look(), until, signal).catch((error: unknown) => {
        rethrowBug(error);
        radar.forget();
      });
      wait = Math.max(every, (performance.now() - began) / SHARE);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    radar.forget();
  }
}

/** A single task cannot conflict; it can only leave its scope. */
function isWorthwhile({ plan }: RunContext): boolean {
  const writers = plan.tasks.filter(({ mode }) => mode === 'write');
  return writers.length > 1 || writers.some((task) => task.writes.length + task.forbids.length > 0);
}

interface Pair {
  readonly a: TaskId;
  /** Null for what is about to land. */
  readonly b: TaskId | null;
}

type Approach = Pair & { readonly near: number };

export class Radar {
  readonly #context: RunContext;
  readonly #report: (fact: RadarEvent) => void;
  readonly #lands: boolean;
  readonly #tracker: WorkTracker;
  readonly #guard: SemanticGuard;
  readonly #landedNames: LandedNames;
  readonly #open = new Map<string, Pair>();
  readonly #reported = new Map<string, Pair & { readonly files: readonly string[] }>();
  readonly #astray = new Map<TaskId, { readonly attempt: number; readonly files: string }>();
  readonly #landed = new Map<Sha, Promise<Changes>>();
  #tip: Sha | null = null;

  constructor(
    context: RunContext,
    how: { readonly report: (fact: RadarEvent) => void; readonly lands: boolean },
  ) {
    this.#context = context;
    this.#report = how.report;
    this.#lands = how.lands;
    this.#tracker = new WorkTracker(context);
    this.#guard = new SemanticGuard(context, this.#tracker, how.report);
    const known = { tracker: this.#tracker, guard: this.#guard };
    this.#landedNames = new LandedNames(context, known, how.report);
  }

  /** Examines everything that changed since the last look, of work that started before `until`. */
  async look(state: RunState, until: number, signal: AbortSignal): Promise<void> {
    const changed = await this.#tracker.look(state, until, signal);
    for (const id of changed) this.#guardScope(this.#tracker.tracked.get(id)!);
    this.#forgetGone();
    if (!this.#lands) return; // Without merges there are no conflicts.
    this.#openPairs(state, changed);
    const pairs = [...this.#open.values()];
    const near = await this.#approaching(signal);
    await this.#merge(near.slice(0, MOST_MERGES), signal);
    await this.#guardNames(pairs, signal);
    await this.#landedNames.look(state, signal);
  }

  /** Starts over; reports stand until a look finds otherwise. */
  forget(): void {
    this.#tracker.close();
    this.#landed.clear();
    this.#tip = null;
  }

  /** Of the pairs that were judged now: those that do not merge have to change anyway. */
  async #guardNames(pairs: readonly Pair[], signal: AbortSignal): Promise<void> {
    const merging: (readonly [TaskId, TaskId])[] = [];
    for (const { a, b } of pairs) {
      if (b === null || this.#open.has(keyOf(a, b))) continue;
      if (this.#reported.has(keyOf(a, b))) this.#guard.clear(a, b);
      else merging.push([a, b]);
    }
    await this.#guard.prepare(new Set(merging.flat()), signal);
    for (const [a, b] of merging) await this.#guard.look(a, b, signal);
  }

  #guardScope({ spec, attempt, changes, live }: TrackedWork): void {
    if (live === null) return; // Its work is judged as a whole already.
    const files = filesOutOfScope(spec, changes.keys());
    const said = this.#astray.get(spec.id);
    const before = said?.attempt === attempt ? said.files : '';
    const now = files.join('\0');
    if (now === before) return;
    this.#astray.set(spec.id, { attempt, files: now });
    this.#report({ type: 'scope.strayed', task: spec.id, attempt, files });
  }

  /** The fold forgets finished tasks as well: no report is needed. */
  #forgetGone(): void {
    const { tracked } = this.#tracker;
    this.#guard.forgetGone();
    for (const pairs of [this.#open, this.#reported]) {
      for (const [key, { a, b }] of pairs) {
        if (!tracked.has(a) || (b !== null && !tracked.has(b))) pairs.delete(key);
      }
    }
  }

  #openPairs(state: RunState, changed: ReadonlySet<TaskId>): void {
    const ids = [...state.tasks.keys()].filter((id) => this.#tracker.tracked.has(id));
    for (const [at, a] of ids.entries()) {
      for (const b of ids.slice(at + 1)) if (changed.has(a) || changed.has(b)) this.#openPair(a, b);
    }
    const tip = projectedHead(state);
    if (tip !== this.#tip) this.#landed.clear();
    const queued = new Set(state.queue.map(({ task }) => task));
    for (const id of ids) {
      const isOpen = tip !== this.#tip || changed.has(id);
      if (isOpen && !queued.has(id)) this.#openPair(id, null);
    }
    this.#tip = tip;
  }

  #openPair(a: TaskId, b: TaskId | null): void {
    this.#open.set(keyOf(a, b), { a, b });
  }

  /** The open pairs that could conflict, most overlap first; the others are cleared. */
  async #approaching(signal: AbortSignal): Promise<readonly Approach[]> {
    const found: Approach[] = [];
    for (const [key, pair] of this.#open) {
      const mine = this.#tracker.tracked.get(pair.a)!;
      const near = overlap(mine.changes, await this.#otherChanges(mine, pair.b, signal));
      if (near > 0) found.push({ ...pair, near });
      else {
        this.#open.delete(key);
        this.#reportPair(pair, []);
      }
    }
    return found.sort((one, other) => other.near - one.near);
  }

  async #otherChanges(
    mine: TrackedWork,
    other: TaskId | null,
    signal: AbortSignal,
  ): Promise<Changes> {
    if (other !== null) return this.#tracker.tracked.get(other)!.changes;
    const tip = this.#tip;
    if (tip === null || tip === mine.base) return new Map();
    const { commonDir } = this.#context.repository;
    const known = this.#landed.get(mine.base) ?? differences(commonDir, mine.base, tip, signal);
    this.#landed.set(mine.base, known);
    return known;
  }

  async #merge(pairs: readonly Approach[], signal: AbortSignal): Promise<void> {
    const commits: (readonly [Sha, Sha])[] = [];
    for (const { a, b } of pairs) {
      commits.push([await this.#commitOf(a, signal), await this.#commitOf(b, signal)]);
    }
    const { commonDir } = this.#context.repository;
    const merged = await conflictsOf(commonDir, commits, signal);
    for (const [at, pair] of pairs.entries()) {
      const files = merged[at]!;
      this.#open.delete(keyOf(pair.a, pair.b));
      this.#reportPair(pair, files.length === 0 ? [] : await this.#own(pair, files, signal));
    }
  }

  /** Leaves out files that conflict only because of earlier landings. */
  async #own(
    { a, b }: Pair,
    files: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const mine = this.#tracker.tracked.get(a)!;
    const others = await this.#otherChanges(mine, b, signal);
    const shared = files.filter((file) => mine.changes.has(file) && others.has(file));
    return shared.length > 0 ? shared : files;
  }

  async #commitOf(id: TaskId | null, signal: AbortSignal): Promise<Sha> {
    if (id === null) return this.#tip!;
    const { work, live } = this.#tracker.tracked.get(id)!;
    return work ?? live!.commit(signal);
  }

  #reportPair({ a, b }: Pair, files: readonly string[]): void {
    const key = keyOf(a, b);
    const before = this.#reported.get(key)?.files ?? [];
    if (before.join('\0') === files.join('\0')) return;
    if (files.length === 0) {
      this.#reported.delete(key);
      this.#report({ type: 'radar.cleared', a, b });
    } else {
      this.#reported.set(key, { a, b, files });
      this.#report({ type: 'radar.conflict', a, b, files });
    }
  }
}

/** Task ids contain no spaces. */
function keyOf(a: TaskId, b: TaskId | null): string {
  return `${a} ${b ?? ''}`;
}

/** The head once all built candidates have landed. */
function projectedHead(state: RunState): Sha | null {
  return chainOf(state).findLast(({ built }) => built !== null)?.built?.commit ?? state.head;
}

/** The files that a task's scope does not cover, or that it must not touch, sorted. */
function filesOutOfScope(
  { writes, forbids }: Pick<TaskSpec, 'writes' | 'forbids'>,
  files: Iterable<string>,
): readonly string[] {
  const isAstray = (file: string): boolean =>
    inScope(file, forbids) || (writes.length > 0 && !inScope(file, writes));
  return [...files].filter(isAstray).sort();
}

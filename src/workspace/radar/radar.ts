/**
 * The conflict radar: while agents work, what they have changed so far is merged in memory,
 * pairwise and with what is about to land. Conflicts to be are facts, told when they come and when
 * they go. What merges is looked at once more, for names (semantic-guard.ts), and so is work beside
 * what landed since it began (landed-names.ts).
 *
 *   R1. It only looks: no file, index or ref of anybody is touched (sighting.ts).
 *   R2. Its cost is bounded: only what changed is looked at, only pairs that could meet are merged,
 *       at most `MOST_MERGES` a look, those with most in common first. After a long look it waits
 *       four times as long as the look took.
 *   R3. It is a help and no duty: a look that fails says nothing, and the next one begins anew.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { differences } from '../../git/diff.ts';
import { conflictsOf } from '../../git/merge-tree.ts';
import type { RadarEvent } from '../../model/event.ts';
import type { Sha, TaskId } from '../../model/plan.ts';
import { chainOf, type RunState } from '../../model/state.ts';
import type { Ground } from '../ground.ts';
import { LandedNames } from './landed-names.ts';
import { Lookout, type Member } from './lookout.ts';
import { type Changes, meetings } from './reach.ts';
import { SemanticGuard } from './semantic-guard.ts';
import { straysOf } from './strays.ts';

const EVERY_MS = 2_000;
const MOST_MERGES = 64;
/** What a look may take of the time between two; on a busy machine little of it is work. */
const SHARE = 1 / 4;

/** Looks again and again until the signal is aborted. */
export async function watchWork(
  ground: Ground,
  look: () => RunState,
  report: (fact: RadarEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const { radar: every = EVERY_MS, strategy } = ground.plan.landing;
  if (every === 'off' || !isWorthwhile(ground)) return;
  const radar = new Radar(ground, { report, lands: strategy !== 'none' });
  try {
    for (let wait = every; ; ) {
      await sleep(wait, undefined, { signal });
      const began = performance.now();
      // Whoever has only just begun has nothing to show, and may be done before the next look.
      const until = Date.now() - every;
      await radar.look(look(), until, signal).catch(() => radar.forget());
      wait = Math.max(every, (performance.now() - began) / SHARE);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    radar.forget();
  }
}

/** A task alone meets nobody; it can only leave its scope. */
function isWorthwhile({ plan }: Ground): boolean {
  const writers = plan.tasks.filter(({ mode }) => mode === 'write');
  return writers.length > 1 || writers.some((task) => task.writes.length + task.forbids.length > 0);
}

interface Pair {
  readonly a: TaskId;
  /** Null for what is about to land. */
  readonly b: TaskId | null;
}

interface Approach extends Pair {
  readonly near: number;
}

/** What is known between two looks. */
export class Radar {
  readonly #ground: Ground;
  readonly #report: (fact: RadarEvent) => void;
  readonly #lands: boolean;
  readonly #lookout: Lookout;
  readonly #guard: SemanticGuard;
  readonly #landedNames: LandedNames;
  /** Pairs that have to be looked at again. */
  readonly #open = new Map<string, Pair>();
  /** What was said, so that it is said once. */
  readonly #told = new Map<string, Pair & { readonly files: readonly string[] }>();
  readonly #astray = new Map<TaskId, { readonly attempt: number; readonly files: string }>();
  readonly #landed = new Map<Sha, Promise<Changes>>();
  #tip: Sha | null = null;

  constructor(
    ground: Ground,
    how: { readonly report: (fact: RadarEvent) => void; readonly lands: boolean },
  ) {
    this.#ground = ground;
    this.#report = how.report;
    this.#lands = how.lands;
    this.#lookout = new Lookout(ground);
    this.#guard = new SemanticGuard(ground, this.#lookout, how.report);
    const known = { lookout: this.#lookout, guard: this.#guard };
    this.#landedNames = new LandedNames(ground, known, how.report);
  }

  /** One look at everything that has changed since the last, of whoever began until then. */
  async look(state: RunState, until: number, signal: AbortSignal): Promise<void> {
    const changed = await this.#lookout.look(state, until, signal);
    for (const id of changed) this.#guardScope(this.#lookout.members.get(id)!);
    this.#forgetGone();
    if (!this.#lands) return; // What is never merged cannot conflict.
    this.#openPairs(state, changed);
    const pairs = [...this.#open.values()];
    const near = await this.#approaching(signal);
    await this.#merge(near.slice(0, MOST_MERGES), signal);
    await this.#guardNames(pairs, signal);
    await this.#landedNames.look(state, signal);
  }

  /** Everything is seen anew; what was told stays told until it is seen to be otherwise. */
  forget(): void {
    this.#lookout.close();
    this.#landed.clear();
    this.#tip = null;
  }

  /** Of the pairs that were judged now: those that do not merge have to change anyway. */
  async #guardNames(pairs: readonly Pair[], signal: AbortSignal): Promise<void> {
    const merging: (readonly [TaskId, TaskId])[] = [];
    for (const { a, b } of pairs) {
      if (b === null || this.#open.has(keyOf(a, b))) continue;
      if (this.#told.has(keyOf(a, b))) this.#guard.clear(a, b);
      else merging.push([a, b]);
    }
    await this.#guard.prepare(new Set(merging.flat()), signal);
    for (const [a, b] of merging) await this.#guard.look(a, b, signal);
  }

  #guardScope({ spec, attempt, changes, sighting }: Member): void {
    if (sighting === null) return; // Its work is judged as a whole already.
    const files = straysOf(spec, changes.keys());
    const said = this.#astray.get(spec.id);
    const before = said?.attempt === attempt ? said.files : '';
    const now = files.join('\0');
    if (now === before) return;
    this.#astray.set(spec.id, { attempt, files: now });
    this.#report({ type: 'scope.strayed', task: spec.id, attempt, files });
  }

  /** The fold forgets a task that is over as well: nothing has to be said. */
  #forgetGone(): void {
    const { members } = this.#lookout;
    this.#guard.forgetGone();
    for (const pairs of [this.#open, this.#told]) {
      for (const [key, { a, b }] of pairs) {
        if (!members.has(a) || (b !== null && !members.has(b))) pairs.delete(key);
      }
    }
  }

  #openPairs(state: RunState, changed: ReadonlySet<TaskId>): void {
    const ids = [...state.tasks.keys()].filter((id) => this.#lookout.members.has(id));
    for (const [at, a] of ids.entries()) {
      for (const b of ids.slice(at + 1)) if (changed.has(a) || changed.has(b)) this.#openPair(a, b);
    }
    const tip = readRef(state);
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

  /** The open pairs that could conflict, those with most in common first; the others are clear. */
  async #approaching(signal: AbortSignal): Promise<readonly Approach[]> {
    const found: Approach[] = [];
    for (const [key, pair] of this.#open) {
      const mine = this.#lookout.members.get(pair.a)!;
      const near = meetings(mine.changes, await this.#otherChanges(mine, pair.b, signal));
      if (near > 0) found.push({ ...pair, near });
      else {
        this.#open.delete(key);
        this.#tell(pair, []);
      }
    }
    return found.sort((one, other) => other.near - one.near);
  }

  async #otherChanges(mine: Member, other: TaskId | null, signal: AbortSignal): Promise<Changes> {
    if (other !== null) return this.#lookout.members.get(other)!.changes;
    const tip = this.#tip;
    if (tip === null || tip === mine.base) return new Map();
    const { commonDir } = this.#ground.repository;
    const known = this.#landed.get(mine.base) ?? differences(commonDir, mine.base, tip, signal);
    this.#landed.set(mine.base, known);
    return known;
  }

  async #merge(pairs: readonly Approach[], signal: AbortSignal): Promise<void> {
    const commits: (readonly [Sha, Sha])[] = [];
    for (const { a, b } of pairs) {
      commits.push([await this.#commitOf(a, signal), await this.#commitOf(b, signal)]);
    }
    const { commonDir } = this.#ground.repository;
    const merged = await conflictsOf(commonDir, commits, signal);
    for (const [at, pair] of pairs.entries()) {
      const files = merged[at]!;
      this.#open.delete(keyOf(pair.a, pair.b));
      this.#tell(pair, files.length === 0 ? [] : await this.#own(pair, files, signal));
    }
  }

  /** Without the files in which only what landed before is in the way: that is no fault of `b`. */
  async #own(
    { a, b }: Pair,
    files: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const mine = this.#lookout.members.get(a)!;
    const others = await this.#otherChanges(mine, b, signal);
    const shared = files.filter((file) => mine.changes.has(file) && others.has(file));
    return shared.length > 0 ? shared : files;
  }

  async #commitOf(id: TaskId | null, signal: AbortSignal): Promise<Sha> {
    if (id === null) return this.#tip!;
    const { work, sighting } = this.#lookout.members.get(id)!;
    return work ?? sighting!.commit(signal);
  }

  #tell({ a, b }: Pair, files: readonly string[]): void {
    const key = keyOf(a, b);
    const before = this.#told.get(key)?.files ?? [];
    if (before.join('\0') === files.join('\0')) return;
    if (files.length === 0) {
      this.#told.delete(key);
      this.#report({ type: 'radar.cleared', a, b });
    } else {
      this.#told.set(key, { a, b, files });
      this.#report({ type: 'radar.conflict', a, b, files });
    }
  }
}

/** Task ids hold no blanks. */
function keyOf(a: TaskId, b: TaskId | null): string {
  return `${a} ${b ?? ''}`;
}

/** Where the head will be when all that is built has landed. */
function readRef(state: RunState): Sha | null {
  return chainOf(state).findLast(({ built }) => built !== null)?.built?.commit ?? state.head;
}

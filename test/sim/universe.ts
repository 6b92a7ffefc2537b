/**
 * What outlives an engine: the journal, the repository, the clock, the user, the Book that judges.
 *
 * A calm world has neither money nor commands nor second chances, so that its end depends on
 * nothing but its whims, and crashes must not change it. A wild one has all of them.
 */

import type { Command } from '../../src/model/command.ts';
import type { Entry, Event } from '../../src/model/event.ts';
import type { Plan, Sha, TaskId } from '../../src/model/plan.ts';
import { Book } from './book.ts';
import { Clock } from './clock.ts';
import { planFor } from './plans.ts';
import { Random } from './random.ts';
import { Repo } from './repo.ts';
import { type MergeEnding, mergeEnding } from './whims.ts';

/** Which facts came from the world, and how many ends of a task's attempts and merges were kept. */
export class Told {
  readonly #facts = new Set<Event>();
  readonly #kept = new Map<string, number>();

  add(fact: Event): void {
    this.#facts.add(fact);
  }

  /** Books a recorded event: an end that the world told of is used up, one made up is not. */
  keep(event: Event): void {
    const ends = /^(attempt|merge|work)\.(finished|failed|landed|delivered|rejected)$/;
    const [, of] = ends.exec(event.type) ?? [];
    // Who is ejected for a red gate is the engine's conclusion from what the world told.
    const isEjected = event.type === 'merge.rejected' && event.failure.kind === 'gate-failed';
    const isTold = isEjected || this.#facts.has(event);
    if (of === undefined || !('task' in event) || !isTold) return;
    const key = `${of === 'attempt' ? 'attempt' : 'merge'} ${event.task}`;
    this.#kept.set(key, (this.#kept.get(key) ?? 0) + 1);
  }

  countOf(kind: 'attempt' | 'merge', task: TaskId): number {
    return this.#kept.get(`${kind} ${task}`) ?? 0;
  }
}

export class Universe {
  readonly seed: number;
  readonly calm: boolean;
  readonly plan: Plan;
  readonly clock = new Clock(1_000_000);
  readonly repo: Repo;
  readonly book: Book;
  readonly told = new Told();
  readonly entries: Entry[] = [];
  /** Commands that no engine has taken yet. */
  wishes: Command[] = [];
  /** How often a merge or a publication was found done, its fact having been lost. */
  foundDone = 0;
  #jobs = 0;

  constructor(seed: number) {
    const random = new Random(seed, 'world');
    this.seed = seed;
    this.calm = seed % 2 === 0;
    const repository = random.chance(0.95);
    const budget = !this.calm && random.chance(0.35);
    const plan = planFor(seed, { budget, repository });
    const target = repository && random.chance(0.95) ? { target: 'main' } : {};
    this.plan = { ...plan, ...target };
    this.repo = new Repo(repository ? 'base' : null);
    this.book = new Book(this.plan, this.repo);
    if (!this.calm) this.#scheduleWishes(random);
  }

  /** How the landing of a task's newest work turns out, whoever is asked and how often. */
  landingOf(task: TaskId): MergeEnding {
    const { spec } = this.book.page(task);
    const { seed, plan } = this;
    const nth = this.told.countOf('merge', task);
    return mergeEnding({ seed, landing: plan.landing }, spec, nth);
  }

  /** Whether a candidate holds work, not landed yet, that a gate is red on. */
  isRed(candidate: Sha): boolean {
    return this.book.queue.some(({ task, work }) => {
      const ending = this.landingOf(task);
      const isBad = ending.kind === 'rejected' && ending.cause === 'gate-failed';
      return isBad && this.repo.contains(candidate, work);
    });
  }

  nextJob(): number {
    this.#jobs += 1;
    return this.#jobs;
  }

  /** Makes entries of events: the only place where they are stored. */
  store(events: readonly Event[], at: number): readonly Entry[] {
    const entries = events.map((event, i) => ({ seq: this.entries.length + 1 + i, at, event }));
    for (const entry of entries) {
      this.entries.push(entry);
      this.told.keep(entry.event);
      this.book.see(entry);
    }
    return entries;
  }

  /** The journal as the next engine reads it from the disk. */
  read(): readonly Entry[] {
    return JSON.parse(JSON.stringify(this.entries)) as readonly Entry[];
  }

  #scheduleWishes(random: Random): void {
    const count = random.pick([0, 1, 1, 2, 4]);
    for (let i = 0; i < count; i += 1) {
      this.clock.after(random.between(0, 12_000), () => this.wishes.push(this.#wish(random)));
    }
  }

  /** Mostly about what is going on: people cancel what they see running. */
  #wish(random: Random): Command {
    if (random.chance(0.4)) {
      const mode = random.pick(['drain', 'end', 'end', 'cancel'] as const);
      return { kind: 'stop', mode, why: 'Asked for.' };
    }
    const pages = [...this.book.pages.values()];
    const status = random.pick(['running', 'merging', 'merging', 'waiting']);
    const seen = pages.filter((page) => page.status === status);
    return { kind: 'cancel-task', task: random.pick(seen.length > 0 ? seen : pages).spec.id };
  }
}

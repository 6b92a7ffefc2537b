/**
 * One engine's life: the Log and the World it is given, and the way it dies.
 *
 * The engine only ever waits in `sleep`, so `sleep` is what moves the clock: it fires what is due
 * until somebody reports something or the time is over. No real time passes.
 */

import { SteadyClock } from '../../src/base/steady-clock.ts';
import type { Log, Wish, World } from '../../src/engine/world.ts';
import { type Effect, isLastWord } from '../../src/model/effect.ts';
import type { Entry, Event } from '../../src/model/event.ts';
import { fold } from '../../src/model/fold.ts';
import type { Machine } from '../../src/model/machine.ts';
import type { RunState } from '../../src/model/state.ts';
import { waitsOf } from '../../src/schedule/decide.ts';
import { guardRest, guardStart, guardWaits } from './guards.ts';
import { begin, Job } from './jobs.ts';
import { AGENTS } from './plans.ts';
import { sighting } from './radar.ts';
import { Random } from './random.ts';
import type { Universe } from './universe.ts';
import { Crash, rule } from './violation.ts';

/** The engine's lease is another one's. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

/**
 * How an engine dies. `before` and `after` storing its nth batch; in the middle of the `effects` of
 * that batch; at a `time`; `aborted` at a time: its effects are told to stop, but nobody listens;
 * or soon after an effect of a kind has begun. One that is `fenced` lives on, but another engine has
 * its lease: the journal takes nothing more from it, and soon it is told.
 */
export type Death =
  | { readonly kind: 'before' | 'after' | 'effects'; readonly batch: number }
  | { readonly kind: 'time' | 'aborted' | 'fenced'; readonly ms: number }
  | { readonly kind: 'during'; readonly effect: Effect['kind']; readonly ms: number };

/** Longer than any pause of the policy: an engine that records nothing for so long hangs. */
const STALLED_MS = 40 * 60_000;
const MOST_ENTRIES = 3_000;
const MOST_SPINS = 100;
/** How long an engine may not know that it has lost its lease. */
const RENEW_MS = 10_000;
/** How often the world misbehaves: it says a thing twice, an effect vanishes, the disk is slow. */
const TWICE = 0.04;
const VANISHES = 0.02;
const SLOW = 0.03;
const SIGHTINGS = 6;

export class Life implements Log, World {
  #jobs: readonly Job[] = [];
  #ended = false;
  #dead = false;
  #batches = 0;
  #spins = 0;
  #heard = false;
  #restedAt = -1;
  #fenced = false;
  /** How often the journal refused it. */
  #refused = 0;
  /** Whether an effect of it has vanished without a word. */
  hasLost = false;
  readonly #steady: SteadyClock;
  readonly #universe: Universe;
  readonly #death: Death | null;
  readonly #process = new AbortController();
  readonly #random: Random;

  constructor(universe: Universe, nth: number, death: Death | null) {
    this.#universe = universe;
    this.#death = death;
    this.#random = new Random(universe.seed, 'life', nth);
    const { clock, entries } = universe;
    const clocks = { wall: () => universe.wall, passing: () => clock.now };
    this.#steady = new SteadyClock(entries.at(-1)?.at ?? 0, clocks);
    if (death === null || !('ms' in death) || death.kind === 'during') return;
    clock.after(death.ms, () => {
      if (this.#ended) return;
      if (death.kind === 'time') this.#die();
      else if (death.kind === 'fenced') this.#fence();
      else this.#process.abort('interrupted');
    });
  }

  get signal(): AbortSignal {
    return this.#process.signal;
  }

  /** What is running. */
  get jobs(): readonly Job[] {
    this.#jobs = this.#jobs.filter(({ over }) => !over);
    return this.#jobs;
  }

  /** Called when the engine has returned or thrown. */
  end(): void {
    this.#ended = true;
    rule(this.jobs.length === 0, `the engine ended with ${this.jobs.length} effects running`);
  }

  append(events: readonly Event[], at: number): readonly Entry[] {
    if (this.#dead) throw new Crash();
    if (this.#fenced) this.#refuse();
    this.#batches += 1;
    const death = this.#death !== null && 'batch' in this.#death ? this.#death : null;
    const last = death?.batch === this.#batches ? death.kind : null;
    if (last === 'before') this.#dieNow();
    const entries = this.#universe.store(events, at);
    rule(entries.at(-1)!.seq < MOST_ENTRIES, 'the journal grows without end');
    if (last === 'after') this.#dieNow();
    if (this.#random.chance(SLOW)) this.#universe.pass(this.#random.between(50, 4_000));
    return entries;
  }

  agents = (agent: string) => AGENTS[agent]!;

  now(): number {
    return this.#steady.now();
  }

  machine(): Machine {
    return this.#universe.disk.machine;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#universe;
    const until = clock.now + ms;
    this.#spins = ms > 0 ? 0 : this.#spins + 1;
    rule(this.#spins < MOST_SPINS, 'the engine goes round and round without waiting');
    // What came in while a slow disk kept it waiting is taken first.
    if (!this.#heard && !this.#stopped(signal)) this.#checkRest();
    while (!this.#heard && !this.#stopped(signal) && clock.fireNext(until));
    if (!this.#heard && !this.#stopped(signal)) clock.advanceTo(until);
    // A busy machine: the engine comes back late and finds several facts at once.
    if (this.#heard && this.#random.chance(0.2)) {
      this.#universe.pass(this.#random.between(0, 250));
    }
    rule(
      clock.now - this.#universe.storedAt < STALLED_MS,
      'nothing has been recorded for 40 minutes',
    );
    this.#heard = false;
    return Promise.resolve();
  }

  /** Every wish is answered once, and what is refused changes nothing. */
  commands(): readonly Wish[] {
    const { wishes, book } = this.#universe;
    this.#universe.wishes = [];
    return wishes.map((command) => {
      let before: number | null = null;
      return {
        get command() {
          before = book.seq;
          return command;
        },
        answer: ({ kind }) => {
          const quiet = kind === 'accepted' || before === book.seq;
          rule(quiet, `${command.kind} was refused, but something was recorded`);
        },
      };
    });
  }

  /** Sees something now and then, for as long as the engine lives. */
  observe(look: () => RunState, report: (fact: Event) => void, signal: AbortSignal): Promise<void> {
    for (let nth = 0; nth < SIGHTINGS; nth += 1) {
      this.#universe.clock.after(this.#random.between(0, 20_000), () => {
        if (this.#ended || this.#stopped(signal)) return;
        const fact = sighting(this.#random, look());
        if (fact === null) return;
        this.#heard = true;
        report(fact);
      });
    }
    return Promise.resolve();
  }

  suspend(on: boolean): void {
    for (const job of this.jobs) if (job.effect.kind === 'attempt') job.halt(on);
  }

  recorded(entries: readonly Entry[]): void {
    const { entries: stored } = this.#universe;
    const same = entries.every((entry) => stored[entry.seq - 1] === entry);
    rule(same, 'the world is told of something else than was stored');
  }

  perform(effect: Effect, report: (fact: Event) => void, signal: AbortSignal): Promise<void> {
    const death = this.#death;
    if (death?.kind === 'effects' && death.batch <= this.#batches) this.#die();
    if (this.#dead) return Promise.resolve();
    rule(this.#refused === 0, 'an engine that has lost its lease starts something');
    const { book, repo } = this.#universe;
    guardStart({ book, repo, jobs: this.jobs }, effect);
    const hear = (fact: Event) => {
      this.#heard = true;
      report(fact);
      if (this.#random.chance(TWICE)) this.#again(fact, report);
    };
    const job = new Job(this.#universe, effect, hear, signal);
    this.#jobs = [...this.#jobs, job];
    begin(this.#universe, job);
    if (!this.#universe.calm && this.#random.chance(VANISHES)) this.#lose(job);
    if (death?.kind === 'during' && death.effect === effect.kind)
      job.later(death.ms, () => this.#die());
    return job.done;
  }

  #stopped(signal: AbortSignal): boolean {
    return this.#dead || signal.aborted;
  }

  #checkRest(): void {
    const { book, repo } = this.#universe;
    if (this.#restedAt === book.seq) return; // Nothing new since it last waited.
    guardRest({ book, repo, jobs: this.jobs }, this.now());
    if (this.#random.chance(0.05)) {
      const state = fold(this.#universe.entries);
      guardWaits(book, waitsOf(state, this.now(), this.agents), this.now());
    }
    this.#restedAt = book.seq;
  }

  /** A last word may come again at any time, whatever else only right away. */
  #again(fact: Event, report: (fact: Event) => void): void {
    this.#universe.repeated += 1;
    report(fact);
    if (!isLastWord(fact)) return;
    this.#universe.clock.after(this.#random.between(0, 3_000), () => {
      if (this.#ended || this.#dead) return;
      this.#heard = true;
      report(fact);
    });
  }

  /** Nobody asked it to stop, and it is gone. */
  #lose(job: Job): void {
    job.later(this.#random.between(0, 1_500), () => {
      if (job.signal.aborted) return;
      this.#universe.lost += 1;
      if (job.effect.kind !== 'attempt') this.hasLost = true;
      this.#heard = true;
      job.vanish();
    });
  }

  /** What was on its way to a ref may have got there; from now on nothing of it does. */
  #fence(): void {
    this.#fenced = true;
    this.#universe.fenced += 1;
    for (const job of this.jobs) {
      if (this.#random.chance(0.4)) job.moveNow();
      job.move = null;
    }
    const told = this.#random.between(0, RENEW_MS);
    this.#universe.clock.after(told, () => this.#process.abort('interrupted'));
  }

  #refuse(): never {
    this.#refused += 1;
    rule(this.#refused === 1, 'an engine that has lost its lease goes on writing');
    throw new Fenced();
  }

  #dieNow(): never {
    this.#die();
    throw new Crash();
  }

  #die(): void {
    if (this.#dead) return;
    this.#dead = true;
    for (const job of this.jobs) {
      if (this.#random.chance(0.4)) job.moveNow();
      job.vanish();
    }
    this.#process.abort('interrupted');
  }
}

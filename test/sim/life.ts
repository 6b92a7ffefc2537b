/**
 * One engine's life: the Log and the World it is given, and the way it dies.
 *
 * Journal, lease and commands are the real ones on a database in memory. Time is the clock of the
 * world, which simulate.ts moves while engines sleep: there may be several, and all but the one that
 * has the lease must not be able to do harm. No real time passes.
 */

import { SteadyClock } from '../../src/base/steady-clock.ts';
import type { Log, ReceivedCommand, World } from '../../src/engine/world.ts';
import { answerCommand, takeCommands } from '../../src/journal/commands.ts';
import { Journal } from '../../src/journal/journal.ts';
import {
  acquireLease,
  type Lease,
  LeaseLostError,
  RENEW_MS,
  Renewal,
  releaseLease,
  renewLease,
} from '../../src/journal/lease.ts';
import { NO_SECRETS } from '../../src/journal/mask.ts';
import { type Effect, isLastWord } from '../../src/model/effect.ts';
import type { Entry, Event } from '../../src/model/event.ts';
import { fold } from '../../src/model/fold.ts';
import type { Machine } from '../../src/model/machine.ts';
import type { TaskId } from '../../src/model/plan.ts';
import type { RunState } from '../../src/model/state.ts';
import { waitsOf } from '../../src/schedule/decide.ts';
import { guardRest, guardStart, guardWaits } from './guards.ts';
import { begin, Job, type Place } from './jobs.ts';
import { AGENTS } from './plans.ts';
import { sighting } from './radar.ts';
import { Random } from './random.ts';
import { RUN } from './store.ts';
import type { Engine, Universe } from './universe.ts';
import { Crash, rule } from './violation.ts';

/**
 * How an engine dies. `before` and `after` storing its nth batch; in the middle of the `effects` of
 * that batch; at a `time`; `aborted` at a time: its effects are told to stop, but nobody listens;
 * or soon after an effect of a kind has begun.
 *
 * Four do not die, but another engine wants their run: one that is `halted` after storing its nth
 * batch, one that is `frozen` soon after an effect of a kind has begun, one that is `asleep` from
 * some time on, and one that is only `rivalled`.
 */
export type Death =
  | { readonly kind: 'before' | 'after' | 'effects'; readonly batch: number }
  | { readonly kind: 'time' | 'aborted' | 'rivalled'; readonly ms: number }
  | { readonly kind: 'halted'; readonly batch: number; readonly forMs: number }
  | { readonly kind: 'asleep'; readonly ms: number; readonly forMs: number }
  | { readonly kind: 'during'; readonly effect: Effect['kind']; readonly ms: number }
  | {
      readonly kind: 'frozen';
      readonly effect: Effect['kind'];
      readonly ms: number;
      readonly forMs: number;
    };

/** Who wants the run. */
export interface Applicant {
  /** Which engine of the world this is; its pid, too. */
  readonly nth: number;
  readonly host: string;
  /** How wrong the clock of its host is. */
  readonly skewMs: number;
  readonly death: Death | null;
}

const MOST_ENTRIES = 3_000;
const MOST_SPINS = 100;
/** How long an engine of another host has to be silent to be taken for dead. */
const SILENT_MS = 30_000;
/** How long an engine that is awake may take to find out that it has lost its lease, and to end. */
const MOURNING_MS = 20_000;
/** How often the world misbehaves: it says a thing twice, an effect vanishes, the disk is slow. */
const TWICE = 0.04;
const VANISHES = 0.02;
const SLOW = 0.03;
const SIGHTINGS = 6;

export class Life implements Log, World, Place, Engine {
  readonly universe: Universe;
  readonly host: string;
  renewedAt: number;
  #jobs: readonly Job[] = [];
  #ended = false;
  #dead = false;
  #batches = 0;
  #spins = 0;
  #heard = false;
  #restedAt = -1;
  /** What waits for the process to go on; null unless it is halted. */
  #late: (() => void)[] | null = null;
  #halts = 0;
  /** Since when it has been awake. */
  #awakeSince: number;
  /** Since when another engine has had its run. */
  #lostAt: number | null = null;
  /** How often the journal refused it. */
  #refused = 0;
  /** Whether an effect of it has vanished without a word. */
  hasLost = false;
  readonly #steady: SteadyClock;
  readonly #skewMs: number;
  readonly lease: Lease;
  readonly #journal: Journal;
  readonly death: Death | null;
  readonly #process = new AbortController();
  readonly #random: Random;

  /** Gives the run to whoever wants it, if it is free; null while another engine has it. */
  static take(universe: Universe, applicant: Applicant): Life | null {
    const { nth, host, skewMs } = applicant;
    const { holder, db } = universe;
    const now = universe.wall + skewMs;
    const owner = { pid: nth, start: `${nth}`, host };
    const isAlive = () => holder?.isAlive === true;
    const answer = acquireLease(db, RUN, owner, { now, isAlive });
    const isFree = holder === null || holder.hasReleased || isGone(holder, host, now);
    rule(isFree === (answer.kind === 'held'), `an engine on ${host} finds the run ${answer.kind}`);
    if (answer.kind === 'busy') return null;
    if (isAlive()) universe.overtaken += 1;
    holder?.lose();
    const life = new Life(universe, applicant, answer);
    universe.holder = life;
    return life;
  }

  private constructor(universe: Universe, { nth, host, skewMs, death }: Applicant, lease: Lease) {
    this.universe = universe;
    this.host = host;
    this.death = death;
    this.#skewMs = skewMs;
    this.lease = lease;
    this.#random = new Random(universe.seed, 'life', nth);
    const { clock, entries, db } = universe;
    this.#journal =
      entries.length === 0
        ? Journal.create(db, lease, NO_SECRETS)
        : Journal.open(db, lease, NO_SECRETS);
    this.renewedAt = this.#wall;
    this.#awakeSince = clock.now;
    const clocks = { wall: () => universe.wall, passing: () => clock.now };
    this.#steady = new SteadyClock(entries.at(-1)?.at ?? 0, clocks);
    universe.book.isExcused = true;
    this.#keepRenewing(new Renewal(() => this.#renew(), clocks.passing));
    if (death === null || !('ms' in death) || 'effect' in death) return;
    clock.after(death.ms, () => {
      if (this.#ended) return;
      if (death.kind === 'time') this.#die();
      if (death.kind === 'aborted') this.#process.abort('interrupted');
      if (death.kind === 'asleep') this.#halt(death.forMs);
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

  get isAlive(): boolean {
    return !this.#dead && !this.#ended;
  }

  get hasReleased(): boolean {
    return this.#ended && !this.#dead;
  }

  get holds(): boolean {
    return this.universe.holder === this;
  }

  get isHalted(): boolean {
    return this.#late !== null;
  }

  lose(): void {
    this.#lostAt = this.universe.clock.now;
  }

  /** Whoever has lost its lease ends soon. */
  checkMourning(): void {
    if (this.#lostAt === null || !this.isAlive || this.isHalted) return;
    const since = Math.max(this.#lostAt, this.#awakeSince);
    const isOver = this.universe.clock.now - since < MOURNING_MS;
    rule(isOver, 'an engine that has lost its lease goes on');
  }

  /** Called when the engine has returned or thrown. */
  end(): void {
    rule(this.jobs.length === 0, `the engine ended with ${this.jobs.length} effects running`);
    if (!this.#dead) releaseLease(this.universe.db, this.lease);
    this.#ended = true;
  }

  /** Stores the first fact of the run. */
  found(events: readonly Event[]): readonly Entry[] {
    return this.#write(events, this.now());
  }

  masked(event: Event): Event {
    return this.#journal.masked(event);
  }

  append(events: readonly Event[], at: number): readonly Entry[] {
    if (this.#dead) throw new Crash();
    this.#batches += 1;
    const death = this.death !== null && 'batch' in this.death ? this.death : null;
    const last = death?.batch === this.#batches ? death : null;
    if (last?.kind === 'before') this.#dieNow();
    const entries = this.#write(events, at);
    rule(entries.at(-1)!.seq < MOST_ENTRIES, 'the journal grows without end');
    if (last?.kind === 'after') this.#dieNow();
    if (last?.kind === 'halted') this.#halt(last.forMs);
    if (this.#random.chance(SLOW)) this.universe.pass(this.#random.between(50, 4_000));
    return entries;
  }

  /** The journal takes everything from the engine that has the run, and nothing from any other. */
  #write(events: readonly Event[], at: number): readonly Entry[] {
    const { holds } = this;
    try {
      const entries = this.#journal.append(events, at);
      rule(holds, `an engine that has lost its lease writes ${events[0]?.type}`);
      this.universe.witness(entries);
      return entries;
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      rule(!holds, 'the engine that has the run is refused');
      this.#refused += 1;
      rule(this.#refused === 1, 'an engine that has lost its lease goes on writing');
      throw error;
    }
  }

  agents = (agent: string) => AGENTS[agent]!;

  now(): number {
    return this.#steady.now();
  }

  machine(): Machine {
    return this.universe.disk.machine;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.#spins = ms > 0 ? 0 : this.#spins + 1;
    rule(this.#spins < MOST_SPINS, 'the engine goes round and round without waiting');
    // What came in while a slow disk kept it waiting is taken first.
    if (!this.#heard && !this.#stopped(signal) && this.holds) this.#checkRest();
    if (this.#stopped(signal)) return Promise.resolve();
    // Nobody waits for the end of a sleep that was cut short, and none is longer than a tick.
    return new Promise((resolve) => {
      this.universe.clock.after(ms, () => this.whenAwake(resolve));
    });
  }

  /** A busy machine: the engine comes back late and finds several facts at once. */
  dawdle(): void {
    if (!this.#heard || !this.#random.chance(0.2)) return;
    this.universe.pass(this.#random.between(0, 250));
  }

  whenAwake(call: () => void): void {
    if (this.#late === null) call();
    else this.#late.push(call);
  }

  /** Every wish is taken by the engine that has the run, and what is refused changes nothing. */
  commands(): readonly ReceivedCommand[] {
    this.#heard = false; // It has just taken what there was.
    const { db, book, wall } = this.universe;
    const isAsked = this.universe.wishes > 0 && !this.#dead;
    const wishes = isAsked ? takeCommands(db, this.lease, wall) : [];
    this.universe.wishes -= wishes.length;
    rule(wishes.length === 0 || this.holds, 'an engine that has lost its lease takes a command');
    return wishes.map(({ id, command }) => {
      let before: number | null = null;
      return {
        get command() {
          before = book.seq;
          return command;
        },
        answer: (answer) => {
          const quiet = answer.kind === 'accepted' || before === book.seq;
          rule(quiet, `${command.kind} was refused, but something was recorded`);
          answerCommand(db, id, answer);
        },
      };
    });
  }

  /** Sees something now and then, for as long as the engine lives. */
  observe(look: () => RunState, report: (fact: Event) => void, signal: AbortSignal): Promise<void> {
    for (let nth = 0; nth < SIGHTINGS; nth += 1) {
      this.#afterwards(20_000, () => {
        if (this.#stopped(signal)) return;
        const fact = sighting(this.#random, look());
        if (fact !== null) this.#tell(fact, report);
      });
    }
    return Promise.resolve();
  }

  suspend(isHalted: (task: TaskId) => boolean): void {
    for (const job of this.jobs) {
      if (job.effect.kind === 'attempt') job.halt(isHalted(job.effect.task));
    }
  }

  recorded(entries: readonly Entry[]): void {
    const { entries: stored } = this.universe;
    const same = entries.every((entry) => stored[entry.seq - 1] === entry);
    rule(same, 'the world is told of something else than was stored');
  }

  perform(effect: Effect, report: (fact: Event) => void, signal: AbortSignal): Promise<void> {
    const { death, universe } = this;
    if (death?.kind === 'effects' && death.batch <= this.#batches) this.#die();
    if (this.#dead) return Promise.resolve();
    rule(this.#refused === 0, 'an engine starts what it could not record');
    const { book, repo } = universe;
    if (this.holds) guardStart({ book, repo, jobs: this.jobs }, effect);
    const hear = (fact: Event) => {
      this.#tell(fact, report);
      if (this.#random.chance(TWICE)) this.#again(fact, report);
    };
    const job = new Job(this, effect, hear, signal);
    this.#jobs = [...this.#jobs, job];
    this.whenAwake(() => begin(job));
    if (!universe.calm && this.#random.chance(VANISHES)) this.#lose(job);
    if (death !== null && 'effect' in death && death.effect === effect.kind) {
      const strike = () => (death.kind === 'during' ? this.#die() : this.#halt(death.forMs));
      job.later(death.ms, strike);
    }
    return job.done;
  }

  #tell(fact: Event, report: (fact: Event) => void): void {
    this.#heard = true;
    report(fact);
  }

  /** Sometime within so long, if the engine is there by then. */
  #afterwards(withinMs: number, call: () => void): void {
    this.universe.clock.after(this.#random.between(0, withinMs), () =>
      this.whenAwake(() => {
        if (this.isAlive) call();
      }),
    );
  }

  #stopped(signal: AbortSignal): boolean {
    return this.#dead || signal.aborted;
  }

  #checkRest(): void {
    const { book, repo } = this.universe;
    if (this.#restedAt === book.seq) return; // Nothing new since it last waited.
    guardRest({ book, repo, jobs: this.jobs }, this.now());
    if (this.#random.chance(0.05)) {
      const state = fold(this.universe.entries);
      guardWaits(book, waitsOf(state, this.now(), this.agents), this.now());
    }
    this.#restedAt = book.seq;
  }

  /** A last word may come again at any time, whatever else only right away. */
  #again(fact: Event, report: (fact: Event) => void): void {
    this.universe.repeated += 1;
    report(fact);
    if (!isLastWord(fact)) return;
    this.#afterwards(3_000, () => this.#tell(fact, report));
  }

  /** Nobody asked it to stop, and it is gone. */
  #lose(job: Job): void {
    job.later(this.#random.between(0, 1_500), () => {
      if (job.signal.aborted) return;
      this.universe.lost += 1;
      if (job.effect.kind !== 'attempt') this.hasLost = true;
      this.#heard = true;
      job.vanish();
    });
  }

  get #wall(): number {
    return this.universe.wall + this.#skewMs;
  }

  #renew(): void {
    renewLease(this.universe.db, this.lease, this.#wall);
    this.renewedAt = this.#wall;
  }

  #keepRenewing(renewal: Renewal): void {
    this.universe.clock.after(RENEW_MS, () =>
      this.whenAwake(() => {
        if (!this.isAlive || this.signal.aborted) return;
        const why = renewal.tick();
        if (why !== null) this.#process.abort(why);
        this.#keepRenewing(renewal);
      }),
    );
  }

  /** The process is halted for a while: what it gave to git may get done, it itself does nothing. */
  #halt(ms: number): void {
    if (this.#halts > 0) return;
    this.#halts += 1;
    this.#late = [];
    for (const job of this.jobs) if (this.#random.chance(0.4)) job.moveNow();
    this.universe.clock.after(ms, () => {
      const late = this.#late ?? [];
      this.#late = null;
      this.#awakeSince = this.universe.clock.now;
      this.universe.book.isExcused = true;
      for (const call of late) this.universe.clock.after(0, () => this.whenAwake(call));
    });
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

/** Here by its process, elsewhere by its silence. */
function isGone(holder: Engine, host: string, now: number): boolean {
  return holder.host === host ? !holder.isAlive : now - holder.renewedAt > SILENT_MS;
}

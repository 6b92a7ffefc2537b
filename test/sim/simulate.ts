/**
 * simulate: one seeded world from its first engine to its last.
 *
 * The real fold, decide, recover, loop, journal and lease drive a simulated world. Engines die as the
 * seed says, and the next one opens the journal it finds; or they are halted for longer than their
 * lease lasts, another one takes the run over, and they wake up and go on beside it. Every rule of
 * book.ts, guards.ts and life.ts holds at every step, or this throws a Violation that names the seed.
 */

import { isDeepStrictEqual } from 'node:util';
import { InvariantError } from '../../src/base/errors.ts';
import { loop } from '../../src/engine/loop.ts';
import { reopen } from '../../src/engine/recover.ts';
import { LeaseLostError } from '../../src/journal/lease.ts';
import type { Entry } from '../../src/model/event.ts';
import { apply, fold } from '../../src/model/fold.ts';
import type { TaskId } from '../../src/model/plan.ts';
import { isEnding, isGood, type RunState } from '../../src/model/state.ts';
import { type Applicant, type Death, Life } from './life.ts';
import { expectedGood } from './policy.ts';
import { Random } from './random.ts';
import type { Tally } from './tally.ts';
import { Universe } from './universe.ts';
import { Crash, rule, Violation } from './violation.ts';

const REOPENED = { meanwhile: null, retry: null, changed: {} };
/** No world needs more engines than this. */
const MOST_LIVES = 14;
/** How often somebody asks for a run before going to the host that has it. */
const MOST_TRIES = 6;
/** Longer than any pause of the policy: an engine that records nothing for so long hangs. */
const STALLED_MS = 40 * 60_000;

/**
 * Runs the world of a seed, adds what it saw to the tally and gives back its journal. A calm world
 * is run a second time without crashes: both times it must end with the tasks its whims allow.
 */
export async function simulate(seed: number, tally: Tally): Promise<readonly Entry[]> {
  const universe = new Universe(seed);
  const crashes = new Random(seed, 'crashes').between(0, 5);
  await witnessed(universe, () => runWorld(universe, crashes, tally));
  if (universe.calm) {
    const quiet = new Universe(seed);
    await witnessed(quiet, () => runWorld(quiet, 0, tally));
  }
  return universe.entries;
}

/** Names the seed and shows the end of the journal when a rule is broken. */
async function witnessed(universe: Universe, run: () => Promise<RunState>): Promise<void> {
  try {
    const state = await run();
    if (universe.calm) checkGood(universe, state);
  } catch (error) {
    const { seed, entries } = universe;
    const what = error instanceof Violation ? error.message : String((error as Error).stack);
    const shown = entries.slice(-Number(process.env.SIM_ENTRIES ?? 8)).map((entry) => {
      const { plan: _, ...event } = { plan: null, ...entry.event };
      return `  ${entry.seq} at ${entry.at}: ${JSON.stringify(event)}`;
    });
    const again = `Again: SIM_SEED=${seed} SIM_ENTRIES=100 vitest run test/sim/sim.test.ts`;
    throw new Violation(`world ${seed}: ${what}\n${shown.join('\n')}\n${again}`);
  }
}

async function runWorld(universe: Universe, crashes: number, tally: Tally): Promise<RunState> {
  const applicants = new Applicants(universe, crashes);
  const random = new Random(universe.seed, 'lives', crashes);
  const engines: Running[] = [];
  let chances = universe.calm ? 0 : 2;
  applicants.come(0);
  for (;;) {
    const life = await conduct(universe, engines, () => applicants.granted());
    const engine = new Running(life);
    engines.push(engine);
    if (isContested(life)) applicants.come(random.between(0, 10_000));
    await conduct(universe, engines, () => (engine.isOver || !life.holds ? engine : null));
    if (!life.holds) continue;
    const state = fold(universe.read());
    if (state.outcome === null) {
      tally.crashes += 1;
    } else {
      checkEnd(universe, state);
      const stopped = state.outcome === 'interrupted' || state.outcome === 'cancelled';
      if (!stopped && (chances === 0 || random.chance(0.5))) {
        await outlast(universe, engines);
        tally.add(universe);
        return state;
      }
      if (!stopped) chances -= 1;
    }
    applicants.come(random.between(0, 5_000));
  }
}

/** Engines that wake up when everything is done find it so, and change nothing. */
async function outlast(universe: Universe, engines: readonly Running[]): Promise<void> {
  await conduct(universe, engines, () => (engines.every(({ isOver }) => isOver) ? true : null));
  checkEnd(universe, fold(universe.read()));
}

/**
 * Moves the clock until something is there. Engines go on by themselves whenever a timer has told
 * them something.
 */
async function conduct<T>(
  universe: Universe,
  engines: readonly Running[],
  look: () => T | null,
): Promise<T> {
  const { clock } = universe;
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    const alive = engines.filter((engine) => !engine.isOver);
    for (const { failure } of engines) if (failure !== null) throw failure;
    for (const { life } of alive) life.checkMourning();
    const found = look();
    if (found !== null) return found;
    rule(clock.fireNext(Number.POSITIVE_INFINITY), 'the engine waits for what will never happen');
    for (const { life } of alive) life.dawdle();
    const quietMs = clock.now - universe.storedAt;
    rule(quietMs < STALLED_MS, 'nothing has been recorded for 40 minutes');
  }
}

/** The engines that want the run, one after the other. */
class Applicants {
  readonly #universe: Universe;
  readonly #crashes: number;
  readonly #random: Random;
  readonly #skewsMs: Readonly<Record<string, number>>;
  #granted: Life | null = null;
  #nth = 0;
  #isComing = false;

  constructor(universe: Universe, crashes: number) {
    this.#universe = universe;
    this.#crashes = crashes;
    this.#random = new Random(universe.seed, 'applicants', crashes);
    this.#skewsMs = { here: 0, there: this.#random.pick([0, 0, -20_000, 40_000]) };
  }

  /** The one that has got it since this was last asked. */
  granted(): Life | null {
    const life = this.#granted;
    this.#granted = null;
    return life;
  }

  /** The next one comes, and stays until it has the run. */
  come(afterMs: number): void {
    if (this.#isComing) return;
    this.#isComing = true;
    this.#nth += 1;
    rule(this.#nth < MOST_LIVES, `the run is not over after ${MOST_LIVES} engines`);
    const other = this.#universe.holder?.host === 'here' ? 'there' : 'here';
    const host = this.#random.pick(['here', other, 'there']);
    const death = this.#nth <= this.#crashes ? deathFor(this.#random) : null;
    this.#apply(afterMs, { nth: this.#nth, host, skewMs: this.#skewsMs[host]!, death });
  }

  #apply(afterMs: number, applicant: Applicant, tries = 1): void {
    const universe = this.#universe;
    universe.clock.after(afterMs, () => {
      const life = Life.take(universe, applicant);
      this.#granted = life;
      this.#isComing = life === null;
      if (life !== null) return;
      // A clock that was set back makes the dead of other hosts look alive: people go there then.
      const host = tries < MOST_TRIES ? applicant.host : universe.holder!.host;
      const skewMs = this.#skewsMs[host]!;
      this.#apply(this.#random.between(500, 20_000), { ...applicant, host, skewMs }, tries + 1);
    });
  }
}

const DEATHS = [
  ...['before', 'after', 'effects', 'time', 'aborted', 'during'],
  ...['halted', 'frozen', 'frozen', 'asleep', 'rivalled'],
] as Death['kind'][];

function deathFor(random: Random): Death {
  const kind = random.pick(DEATHS);
  const forMs = random.pick([5_000, 40_000, 60_000, 150_000]);
  if (kind === 'asleep') return { kind, ms: random.between(0, 6_000), forMs };
  if (kind === 'time' || kind === 'aborted' || kind === 'rivalled') {
    return { kind, ms: random.between(0, 6_000) };
  }
  const batch = random.between(1, random.pick([4, 12, 40]));
  if (kind === 'halted') return { kind, batch, forMs };
  if (kind !== 'during' && kind !== 'frozen') return { kind, batch };
  const effects = ['merge', 'publish', 'publish', kind === 'frozen' ? 'land' : 'release'] as const;
  const effect = random.pick(effects);
  const ms = random.between(0, effect === 'land' ? 30 : 300);
  return kind === 'frozen' ? { kind, effect, ms, forMs } : { kind, effect, ms };
}

/** Whether another engine wants the run while this one has it. */
function isContested({ death }: Life): boolean {
  return death !== null && ['halted', 'frozen', 'asleep', 'rivalled'].includes(death.kind);
}

/** An engine at work, from opening the journal to its end. */
class Running {
  readonly life: Life;
  isOver = false;
  failure: unknown = null;

  constructor(life: Life) {
    this.life = life;
    this.#live().then(
      () => {
        this.isOver = true;
      },
      (error: unknown) => {
        this.isOver = true;
        this.failure = error;
      },
    );
  }

  async #live(): Promise<void> {
    const { life } = this;
    const { universe } = life;
    let left: RunState | null = null;
    try {
      left = await drive(life);
      const { aborted, reason } = life.signal;
      if (aborted && reason instanceof LeaseLostError) throw reason;
    } catch (error) {
      left = null;
      const isFenced = error instanceof LeaseLostError && !life.holds;
      const isLost = error instanceof InvariantError && life.hasLost;
      if (!(error instanceof Crash || isFenced || isLost)) throw error;
    }
    life.end();
    if (left === null || !life.holds) return;
    const same = isDeepStrictEqual(left, fold(universe.read()));
    rule(same, 'the journal folds to another state');
  }
}

function drive(life: Life): Promise<RunState> {
  const { universe } = life;
  const { plan, repo } = universe;
  const stored = universe.read();
  const before = stored.length === 0 ? null : fold(stored);
  const edits = new Random(universe.seed, 'edits', stored.length);
  const next = before === null || isEnding(before) ? null : universe.edited(edits);
  const mended = universe.mended(new Random(universe.seed, 'mended', stored.length));
  const attended = universe.isSteered && edits.chance(0.6);
  const at = attended ? ({ attended } as const) : {};
  const started = { plan, planHash: 'hash', base: repo.base, target: plan.target ?? null };
  const entries =
    before === null
      ? life.found([{ type: 'run.started', ...started, ...at }])
      : life.append(reopen(before, { ...REOPENED, next, mended, attended }), life.now());
  const state = entries.reduce<RunState | null>(apply, before);
  return loop(state!, life, life, life.signal);
}

/** What must be true whenever a run has finished, in the journal and in the repository. */
function checkEnd({ book, repo }: Universe, state: RunState): void {
  for (const task of state.tasks.values()) {
    const { id } = task.spec;
    const page = book.page(id);
    const inHead = repo.landedWork(id) !== null;
    rule(inHead === (task.status.kind === 'landed'), `${id} is ${task.status.kind}, not in git`);
    const onBranch = repo.delivered.has(id);
    rule(onBranch === (task.status.kind === 'delivered'), `${id} is ${task.status.kind}, on git`);
    const kind = task.status.kind === 'committed' ? 'queued' : task.status.kind;
    const same = kind === page.status || (kind === 'stopped' && page.status === 'queued');
    rule(same, `${id} is ${kind} for the fold and ${page.status} for the book`);
    rule(!inHead || repo.contains(repo.head, repo.landedWork(id)!), `${id} is lost from the head`);
  }
  const landed = state.landed.map(({ task }) => task);
  const really = repo.landings.map(({ task }) => task);
  rule(isDeepStrictEqual(landed, really), `landed: ${landed}; really: ${really}`);
  rule(state.head === repo.head, `the head is ${repo.head}, not ${state.head}`);
  if (state.publish.kind === 'finished') {
    rule(repo.contains(repo.target, state.publish.head!), 'published, but not in the target');
  }
}

function checkGood({ seed, plan }: Universe, state: RunState): void {
  const good: TaskId[] = [...state.tasks.values()].filter(isGood).map(({ spec }) => spec.id);
  const expected = [...expectedGood(seed, plan)];
  const same = isDeepStrictEqual([...good].sort(), [...expected].sort());
  rule(same, `good are ${good}; the whims allow ${expected}`);
}

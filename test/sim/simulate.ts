/**
 * simulate: one seeded world from its first engine to its last.
 *
 * The real fold, decide, recover and loop drive a simulated world. Engines die as the seed says,
 * and the next one opens the journal it finds. Every rule of book.ts and guards.ts holds at every step,
 * or this throws a Violation that names the seed.
 */

import { isDeepStrictEqual } from 'node:util';
import { InvariantError } from '../../src/base/errors.ts';
import { loop } from '../../src/engine/loop.ts';
import { reopen } from '../../src/engine/recover.ts';
import type { Entry } from '../../src/model/event.ts';
import { apply, fold } from '../../src/model/fold.ts';
import type { TaskId } from '../../src/model/plan.ts';
import { isGood, type RunState } from '../../src/model/state.ts';
import { type Death, Fenced, Life } from './life.ts';
import { expectedGood } from './policy.ts';
import { Random } from './random.ts';
import type { Tally } from './tally.ts';
import { Universe } from './universe.ts';
import { Crash, rule, Violation } from './violation.ts';

const REOPENED = { meanwhile: null, retry: null, changed: {} };
/** No world needs more engines than this. */
const MOST_LIVES = 14;

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
  const { plan, repo, clock } = universe;
  const random = new Random(universe.seed, 'lives', crashes);
  const started = { plan, planHash: 'hash', base: repo.base, target: plan.target ?? null };
  universe.store([{ type: 'run.started', ...started }], universe.wall);
  let chances = universe.calm ? 0 : 2;
  for (let nth = 1; nth < MOST_LIVES; nth += 1) {
    const death = nth <= crashes ? deathFor(random) : null;
    const state = await live(universe, new Life(universe, nth, death), nth === 1);
    if (state.outcome === null) {
      tally.crashes += 1;
    } else {
      checkEnd(universe, state);
      const stopped = state.outcome === 'interrupted' || state.outcome === 'cancelled';
      if (!stopped && (chances === 0 || random.chance(0.5))) {
        tally.add(universe);
        return state;
      }
      if (!stopped) chances -= 1;
    }
    clock.advanceTo(clock.now + random.between(0, 5_000));
  }
  throw new Violation(`the run is not over after ${MOST_LIVES} engines`);
}

const DEATHS = ['before', 'after', 'effects', 'time', 'aborted', 'during', 'fenced'] as const;

function deathFor(random: Random): Death {
  const kind = random.pick(DEATHS);
  if (kind === 'time' || kind === 'aborted' || kind === 'fenced') {
    return { kind, ms: random.between(0, 6_000) };
  }
  if (kind !== 'during') return { kind, batch: random.between(1, random.pick([4, 12, 40])) };
  const effect = random.pick(['merge', 'publish', 'publish', 'release'] as const);
  return { kind, effect, ms: random.between(0, 300) };
}

/** From opening the journal to the engine's end; the state as the journal then tells it. */
async function live(universe: Universe, life: Life, first: boolean): Promise<RunState> {
  const begun = async (): Promise<RunState> => {
    let state = fold(universe.read());
    const reopened = first ? [] : life.append(reopen(state, REOPENED), life.now());
    for (const entry of reopened) state = apply(state, entry);
    return loop(state, life, life, life.signal);
  };
  let left: RunState | null = null;
  try {
    left = await windDown(universe, begun());
  } catch (error) {
    const isLost = life.hasLost && error instanceof InvariantError;
    if (!(error instanceof Crash || error instanceof Fenced || isLost)) throw error;
  }
  life.end();
  const state = fold(universe.read());
  rule(left === null || isDeepStrictEqual(left, state), 'the journal folds to another state');
  return state;
}

/** Waits for the engine. When it does not sleep any more, its last effects still need the clock. */
async function windDown(universe: Universe, engine: Promise<RunState>): Promise<RunState> {
  const settled = { yes: false };
  const mark = () => {
    settled.yes = true;
  };
  engine.then(mark, mark);
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    if (settled.yes) return engine;
    const moved = universe.clock.fireNext(Number.POSITIVE_INFINITY);
    rule(moved, 'the engine waits for something that will never happen');
  }
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

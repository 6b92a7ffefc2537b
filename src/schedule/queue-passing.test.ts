/** The queue with a passer beside it, in a small world where the culprits are known beforehand. */

import { describe, expect, test } from 'vitest';
import type { Candidate } from '../model/state.ts';
import { type LaneStep, type Lanes, laneSteps, type Queue } from './queue.ts';

function candidate(task: string, onto: string, more: Partial<Candidate> = {}): Candidate {
  const built = { commit: `${onto} ${task}`, tree: task };
  const rest = { verdict: 'none', looks: 0, isRunning: false, failure: null } as const;
  return { task, work: task, onto, built, ...rest, ...more };
}

const QUEUE: Queue = {
  head: '',
  chain: [candidate('a', '', { isRunning: true })],
  waiting: [{ task: 'x', avoids: null }],
  suspects: new Set(),
  isLanding: false,
  verify: 'each',
  slots: 2,
  busy: 0,
  lingering: new Set(),
};

const NEXT = { task: 'x', passes: ['a'] };

function steps(queue: Partial<Queue>, more: Partial<Lanes> = {}): readonly LaneStep[] {
  return laneSteps({
    queue: { ...QUEUE, ...queue },
    passer: null,
    next: null,
    isPassing: false,
    ...more,
  });
}

const passer = (more: Partial<Candidate> = {}) => candidate('x', '', { passes: ['a'], ...more });

describe('work that may pass', () => {
  test('is built on the head, and not behind the chain', () => {
    expect(steps({}, { next: NEXT })).toEqual([{ lane: 'beside', start: NEXT }]);
    expect(steps({})).toEqual([
      { lane: 'chain', step: { kind: 'build', task: 'x', onto: ' a', lands: false } },
    ]);
  });

  test('waits for a head that is about to move, and for a candidate that is being built', () => {
    const green = [candidate('a', '', { verdict: 'green' })];
    const land = { lane: 'chain', step: { kind: 'land', upTo: 0 } };
    expect(steps({ chain: green }, { next: NEXT })).toEqual([land]);
    expect(steps({ chain: green, isLanding: true }, { next: NEXT })).toEqual([]);
    expect(steps({ chain: [candidate('a', '', { built: null })] }, { next: NEXT })).toEqual([]);
  });

  test('is verified before the chain where slots are rare', () => {
    const chain = [candidate('a', '')];
    const told = steps({ chain, slots: 1, waiting: [] }, { passer: passer() });
    expect(told).toEqual([{ lane: 'beside', step: { kind: 'verify', at: 0, again: false } }]);
    expect(steps({ slots: 1, waiting: [] }, { passer: passer() })).toEqual([]);
    expect(steps({ slots: 2, busy: 1, waiting: [] }, { passer: passer() })).toEqual([]);
  });

  test('lands beside a chain that is not green, and not under one that is being built', () => {
    const green = passer({ verdict: 'green' });
    expect(steps({ waiting: [] }, { passer: green })).toEqual([
      { lane: 'beside', step: { kind: 'land', upTo: 0 } },
    ]);
    const unbuilt = [candidate('a', '', { built: null })];
    expect(steps({ chain: unbuilt, waiting: [] }, { passer: green })).toEqual([]);
    expect(steps({ waiting: [] }, { passer: green, isPassing: true })).toEqual([]);
  });

  test('lets a green chain land first, but not while it is being built itself', () => {
    const chain = [candidate('a', '', { verdict: 'green' })];
    const both = steps({ chain, waiting: [] }, { passer: passer({ verdict: 'green' }) });
    expect(both).toEqual([{ lane: 'chain', step: { kind: 'land', upTo: 0 } }]);
    expect(steps({ chain, waiting: [] }, { passer: passer({ built: null }) })).toEqual([]);
  });

  test('is looked at twice before it is ejected', () => {
    const red = { verdict: 'red', looks: 1 } as const;
    expect(steps({ waiting: [] }, { passer: passer(red) })).toEqual([
      { lane: 'beside', step: { kind: 'verify', at: 0, again: true } },
    ]);
    expect(steps({ waiting: [] }, { passer: passer({ ...red, looks: 2 }) })).toEqual([
      { lane: 'beside', step: { kind: 'eject', at: 0 } },
    ]);
  });
});

test('a candidate is not verified while gates of its former one go on, which hold their slot', () => {
  const chain = [candidate('a', ''), candidate('b', ' a')];
  const lingering = new Set(['a']);
  expect(steps({ chain, lingering, busy: 1, waiting: [] })).toEqual([
    { lane: 'chain', step: { kind: 'verify', at: 1, again: false } },
  ]);
});

interface World {
  readonly tasks: readonly string[];
  readonly passing: ReadonlySet<string>;
  readonly isRed: (commit: string) => boolean;
  readonly verify: 'each' | 'batch';
  readonly slots: number;
  readonly random: (below: number) => number;
}

interface Told {
  readonly landed: readonly string[];
  readonly ejected: readonly string[];
}

/** Lets gates end in any order until everything has landed or is ejected. */
class Lab {
  #head = '';
  #chain: Candidate[] = [];
  #passer: Candidate | null = null;
  #waiting: string[];
  readonly #ejected: string[] = [];
  readonly #green = new Set<string>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    this.#waiting = [...world.tasks];
  }

  run(): Told {
    for (let turn = 0; ; turn += 1) {
      expect(turn).toBeLessThan(2_000);
      const [step] = this.#steps(); // One at a time: the next step is decided again.
      if (step !== undefined) this.#take(step);
      else if (!this.#endOneGate()) break;
    }
    expect([this.#chain, this.#passer, this.#waiting]).toEqual([[], null, []]);
    return { landed: this.#head.split(' ').filter(Boolean), ejected: this.#ejected };
  }

  #steps(): readonly LaneStep[] {
    const { verify, slots, passing } = this.#world;
    const before = [...this.#chain.map(({ task }) => task), ...this.#waiting];
    const task = this.#waiting.find((id) => passing.has(id) && before[0] !== id);
    const next = task === undefined || this.#passer !== null ? null : { task, passes: before };
    const waiting = this.#waiting.map((id) => ({ task: id, avoids: null }));
    const about = { head: this.#head, chain: this.#chain, waiting, verify, slots };
    const queue = { ...QUEUE, ...about };
    return laneSteps({ queue, passer: this.#passer, next, isPassing: false });
  }

  #take(todo: LaneStep): void {
    if ('start' in todo) {
      this.#waiting = this.#waiting.filter((id) => id !== todo.start.task);
      this.#passer = candidate(todo.start.task, this.#head, { passes: todo.start.passes });
      return;
    }
    const { lane, step } = todo;
    const own = lane === 'chain' ? this.#chain : [this.#passer!];
    if (step.kind === 'build') {
      this.#waiting = this.#waiting.filter((id) => id !== step.task);
      this.#chain.push(candidate(step.task, step.onto));
    }
    if (step.kind === 'verify') this.#change(own[step.at]!, { isRunning: true });
    if (step.kind === 'land') this.#land(lane, own.slice(0, step.upTo + 1));
    if (step.kind === 'eject') this.#eject(lane, step.at);
  }

  #land(lane: LaneStep['lane'], moved: readonly Candidate[]): void {
    const last = moved.at(-1)!.built!.commit;
    expect(this.#green).toContain(last);
    expect(moved[0]!.onto).toBe(this.#head);
    this.#head = last;
    // Whatever stood on the old head is built again.
    const left = lane === 'chain' ? this.#passer : null;
    this.#chain = lane === 'chain' ? this.#chain.slice(moved.length) : this.#back(this.#chain);
    this.#passer = null;
    if (left !== null) this.#back([left]);
  }

  #eject(lane: LaneStep['lane'], at: number): void {
    const gone = lane === 'chain' ? this.#chain.splice(at) : [this.#passer!];
    if (lane === 'beside') this.#passer = null;
    this.#ejected.push(gone[0]!.task);
    this.#back(gone.slice(1));
  }

  #back(gone: readonly Candidate[]): Candidate[] {
    const { tasks } = this.#world;
    const ids = [...this.#waiting, ...gone.map(({ task }) => task)];
    this.#waiting = ids.sort((a, b) => tasks.indexOf(a) - tasks.indexOf(b));
    return [];
  }

  #change(which: Candidate, change: Partial<Candidate>): void {
    const made = { ...which, ...change };
    if (which === this.#passer) this.#passer = made;
    else this.#chain = this.#chain.map((each) => (each === which ? made : each));
  }

  #endOneGate(): boolean {
    const all = [...this.#chain, ...(this.#passer === null ? [] : [this.#passer])];
    const running = all.filter(({ isRunning }) => isRunning);
    if (running.length === 0) return false;
    expect(running.length).toBeLessThanOrEqual(this.#world.slots);
    const one = running[this.#world.random(running.length)]!;
    const { commit } = one.built!;
    const isRed = this.#world.isRed(commit);
    if (!isRed) this.#green.add(commit);
    const verdict = isRed ? 'red' : 'green';
    this.#change(one, { isRunning: false, verdict, looks: one.looks + 1 });
    return true;
  }
}

test('in any world only green heads land, and exactly those go that are red by themselves', () => {
  for (let seed = 1; seed < 500; seed += 1) {
    const random = generator(seed);
    const tasks = Array.from({ length: 1 + random(16) }, (_, id) => `t${id}`);
    const some = (of: number) => new Set(tasks.filter(() => random(of) === 0));
    const [bad, passing] = [some(5), some(3)];
    const isRed = (commit: string) => commit.split(' ').some((task) => bad.has(task));
    const slots = 1 + random(3);
    for (const verify of ['each', 'batch'] as const) {
      const told = new Lab({ tasks, passing, isRed, verify, slots, random }).run();
      expect([...told.ejected].sort()).toEqual([...bad].sort());
      expect([...told.landed].sort()).toEqual(tasks.filter((id) => !bad.has(id)).sort());
    }
  }
});

/** A small generator of numbers below a limit; the same for the same seed. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The queue against a small world of its own: who is to blame is known there beforehand. */

import { describe, expect, test } from 'vitest';
import type { Candidate } from '../model/state.ts';
import { nextSteps, type Queue, type Step } from './queue.ts';

interface Lab {
  readonly tasks: number;
  readonly verify: Queue['verify'];
  readonly slots: number;
  /** Whether a combination of tasks is red. */
  readonly isRed?: (tasks: ReadonlySet<number>) => boolean;
  /** Looks that turn out red by accident, counted from 0. */
  readonly accidents?: readonly number[];
  readonly suspects?: readonly number[];
}

interface Result {
  readonly landed: readonly number[];
  readonly ejected: readonly number[];
  readonly gateRuns: number;
  /** How many gate runs one after the other it took. */
  readonly rounds: number;
}

/** All tasks are finished at the start; a gate run takes one round, everything else no time. */
function run(lab: Lab): Result {
  const { tasks, verify, slots, isRed = () => false, accidents = [] } = lab;
  const suspects = new Set((lab.suspects ?? []).map(String));
  let waiting = Array.from({ length: tasks }, (_, id) => id);
  let chain: Candidate[] = [];
  let head = '';
  const ejected: number[] = [];
  let gateRuns = 0;
  let rounds = 0;
  const inside = (commit: string) => new Set(commit.split(' ').filter(Boolean).map(Number));
  const set = (at: number, change: Partial<Candidate>) => {
    chain[at] = { ...chain[at]!, ...change };
  };
  /** Takes a step; `now` tells where a candidate is after the steps before it. */
  const take = (step: Step, now: (at: number) => number): void => {
    if (step.kind === 'build') {
      const id = Number(step.task);
      waiting = waiting.filter((other) => other !== id);
      const commit = `${step.onto} ${id}`;
      if (step.lands) head = commit;
      else chain.push(candidate(id, step.onto, commit));
    }
    if (step.kind === 'verify') set(now(step.at), { isRunning: true });
    if (step.kind === 'land') {
      const { built, verdict } = chain[step.upTo]!;
      expect([verdict, isRed(inside(built!.commit))]).toEqual(['green', false]);
      head = built!.commit;
      chain = chain.slice(step.upTo + 1);
    }
    if (step.kind === 'eject') {
      const gone = chain.splice(now(step.at)).map(({ task }) => Number(task));
      ejected.push(gone[0]!);
      waiting = [...gone.slice(1), ...waiting].sort((a, b) => a - b);
    }
  };
  for (;;) {
    const view = waiting.map((id) => ({ task: String(id), avoids: null }));
    const queue = { head, chain, waiting: view, suspects, isLanding: false, verify, slots };
    const steps = nextSteps({ ...queue, busy: 0, lingering: new Set() });
    const before = [...chain];
    for (const step of steps) take(step, (at) => chain.indexOf(before[at]!));
    if (steps.length > 0) continue;
    const running = chain.flatMap(({ isRunning }, at) => (isRunning ? [at] : []));
    if (running.length === 0) break;
    expect(running.length).toBeLessThanOrEqual(slots);
    rounds += 1;
    for (const at of running) {
      const { built, looks } = chain[at]!;
      const red = isRed(inside(built!.commit)) || accidents.includes(gateRuns);
      gateRuns += 1;
      set(at, { isRunning: false, verdict: red ? 'red' : 'green', looks: looks + 1 });
    }
  }
  expect([chain, waiting]).toEqual([[], []]);
  return { landed: [...inside(head)].sort((a, b) => a - b), ejected, gateRuns, rounds };
}

function candidate(id: number, onto: string, commit: string): Candidate {
  const built = { commit, tree: commit };
  const task = String(id);
  const rest = { verdict: 'none', looks: 0, isRunning: false, failure: null } as const;
  return { task, work: task, onto, built, ...rest };
}

const without = (...gone: readonly number[]) =>
  Array.from({ length: 16 }, (_, id) => id).filter((id) => !gone.includes(id));

const has =
  (...culprits: readonly number[]) =>
  (tasks: ReadonlySet<number>) =>
    culprits.some((culprit) => tasks.has(culprit));

describe('each', () => {
  test('green candidates are verified side by side, as many as there are slots', () => {
    const lab = { tasks: 16, verify: 'each', slots: 2 } as const;
    expect(run(lab)).toEqual({ landed: without(), ejected: [], gateRuns: 16, rounds: 8 });
    expect(run({ ...lab, slots: 1 }).rounds).toBe(16);
  });

  test('a red one is looked at twice and ejected, those behind it are built again', () => {
    const told = run({ tasks: 16, verify: 'each', slots: 2, isRed: has(5) });
    expect(told).toMatchObject({ landed: without(5), ejected: [5] });
    expect(told.gateRuns).toBeLessThanOrEqual(16 + 2);
  });

  test('an accident ejects nobody', () => {
    const told = run({ tasks: 16, verify: 'each', slots: 2, accidents: [3, 9] });
    expect(told).toMatchObject({ landed: without(), ejected: [] });
  });
});

describe('batch', () => {
  test('one gate run answers for all that are green', () => {
    const told = run({ tasks: 16, verify: 'batch', slots: 2 });
    expect(told).toEqual({ landed: without(), ejected: [], gateRuns: 1, rounds: 1 });
  });

  test.each(without())('one culprit (%i of 16) is found in the logarithm of the rounds', (id) => {
    const one = run({ tasks: 16, verify: 'batch', slots: 1, isRed: has(id) });
    expect(one).toMatchObject({ landed: without(id), ejected: [id] });
    // The tip, the cuts, the second look, and the tip without it.
    expect(one.gateRuns).toBeLessThanOrEqual(1 + 4 + 1 + 1);
    const two = run({ tasks: 16, verify: 'batch', slots: 2, isRed: has(id) });
    expect(two).toMatchObject({ landed: without(id), ejected: [id] });
    // Two cuts a round: fewer rounds, but more gate runs.
    expect(two.rounds).toBeLessThanOrEqual(1 + 3 + 1 + 1);
    expect(two.gateRuns).toBeLessThanOrEqual(1 + 3 * 2 + 1 + 1);
  });

  test('two culprits are both found, and nobody else is ejected', () => {
    for (let a = 0; a < 16; a += 1) {
      for (let b = a + 1; b < 16; b += 1) {
        const told = run({ tasks: 16, verify: 'batch', slots: 1, isRed: has(a, b) });
        expect(told).toMatchObject({ landed: without(a, b), ejected: [a, b] });
        expect(told.gateRuns).toBeLessThanOrEqual(2 * (1 + 4 + 1) + 1);
      }
    }
  });

  test('of a pair that is red only together the later one is ejected', () => {
    const isRed = (tasks: ReadonlySet<number>) => tasks.has(3) && tasks.has(11);
    for (const slots of [1, 2, 3]) {
      const told = run({ tasks: 16, verify: 'batch', slots, isRed });
      expect(told).toMatchObject({ landed: without(11), ejected: [11] });
    }
  });

  test('a suspected pair is looked at first, so that a culprit is known in two rounds', () => {
    for (const id of [1, 5, 9, 14]) {
      const isRed = (tasks: ReadonlySet<number>) => tasks.has(id - 1) && tasks.has(id);
      const lab = { tasks: 16, verify: 'batch', slots: 2, isRed } as const;
      const told = run({ ...lab, suspects: [id] });
      expect(told).toMatchObject({ landed: without(id), ejected: [id] });
      // The tip, the pair and what is before it, the second look, and the tip without it.
      expect(told.rounds).toBeLessThanOrEqual(4);
      expect(told.gateRuns).toBeLessThanOrEqual(run(lab).gateRuns);
    }
  });

  test('a suspicion that is wrong ejects nobody else', () => {
    const isRed = (tasks: ReadonlySet<number>) => tasks.has(11);
    for (const slots of [1, 2, 3]) {
      const told = run({ tasks: 16, verify: 'batch', slots, isRed, suspects: [4, 5] });
      expect(told).toMatchObject({ landed: without(11), ejected: [11] });
    }
  });

  test('an accident ejects nobody', () => {
    for (let accident = 0; accident < 6; accident += 1) {
      const told = run({ tasks: 16, verify: 'batch', slots: 2, accidents: [accident] });
      expect(told).toMatchObject({ landed: without(), ejected: [] });
    }
  });
});

test('where nothing is to be verified each lands as it is built', () => {
  const told = run({ tasks: 5, verify: 'off', slots: 1 });
  expect(told).toEqual({ landed: [0, 1, 2, 3, 4], ejected: [], gateRuns: 0, rounds: 0 });
});

test('in any world exactly those are ejected that turn what is green before them red', () => {
  for (let seed = 1; seed < 400; seed += 1) {
    const random = generator(seed);
    const tasks = 1 + random(20);
    const pairs = Array.from({ length: random(4) }, () => [random(tasks), random(tasks)] as const);
    const isRed = (set: ReadonlySet<number>) => pairs.some(([a, b]) => set.has(a) && set.has(b));
    const slots = 1 + random(4);
    const expected: number[] = [];
    const good = new Set<number>();
    for (let id = 0; id < tasks; id += 1) {
      if (isRed(new Set([...good, id]))) expected.push(id);
      else good.add(id);
    }
    for (const verify of ['each', 'batch'] as const) {
      const told = run({ tasks, verify, slots, isRed });
      expect(told).toMatchObject({ landed: [...good], ejected: expected });
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

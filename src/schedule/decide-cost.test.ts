/** What deciding costs: it is done after every fact, so that many tasks must not make it dear. */

import { expect, test } from 'vitest';
import { planOf } from '../../test/support/journal-builder.ts';
import { unreachable } from '../base/assert.ts';
import type { Effect } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import { apply } from '../model/fold.ts';
import { UNMEASURED } from '../model/machine.ts';
import type { Plan } from '../model/plan.ts';
import type { RunState } from '../model/state.ts';
import { decide } from './decide.ts';
import { scarcityOn } from './machine-limits.ts';
import type { AgentsKnown } from './next-attempt.ts';
import { begin, look } from './start-attempts.ts';

const agents: AgentsKnown = () => ({ resume: false, prose: true });
const ROUNDS = 3;
const TURNS = 1_000;

test.each([
  ['', {}],
  [' with a budget', { budgetUsd: 1e6 }],
])('a turn among 1,000 tasks%s costs less than 50 turns among 10', (_, limits) => {
  runWhole(planFor(100, limits), () => true); // Compiles what is measured.
  // In turn, so that a machine that is busy for a while is busy for both.
  const rounds = Array.from({ length: ROUNDS }, () => [10, 1_000].map((n) => turnCpu(n, limits)));
  const [few, many] = [0, 1].map((nth) => Math.min(...rounds.map((costs) => costs[nth]!)));
  expect(many! / few!).toBeLessThan(50);
});

test('what begins is what a look at every task says', () => {
  const needs = (index: number): string[] => (index % 3 === 2 ? [`t${index - 1}`] : []);
  const plan = planFor(60, { groups: { db: 2 } }, (index) => ({
    needs: needs(index),
    writes: index % 5 === 0 ? ['shared/**'] : [`src/${index}.ts`],
    ...(index % 4 === 0 ? { group: 'db' } : {}),
  }));
  let starts = 0;
  runWhole(plan, (state, now) => {
    const scarcity = scarcityOn(state, UNMEASURED, now, agents);
    const quick = begin(state, now, agents, scarcity);
    expect(quick.starts).toEqual(look(state, now, agents, scarcity).starts);
    starts += quick.starts.length;
    return true;
  });
  expect(starts).toBe(60);
});

function planFor(
  count: number,
  limits: Partial<Plan['limits']>,
  more: (index: number) => object = () => ({}),
): Plan {
  const ids = Array.from({ length: count }, (_, index) => `t${index}`);
  const tasks = ids.map((id, index) => ({ id, writes: [`${id}.txt`], ...more(index) }));
  return planOf(tasks, { gates: [], limits: { workers: 8, gates: 2, groups: {}, ...limits } });
}

/** The processor time of a turn, in ms. */
function turnCpu(tasks: number, limits: Partial<Plan['limits']>): number {
  const plan = planFor(tasks, limits);
  let turns = 0;
  const began = process.cpuUsage();
  while (turns < TURNS) {
    runWhole(plan, () => {
      turns += 1;
      return turns < TURNS;
    });
  }
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000 / turns;
}

/** A run in which everything succeeds, without a world, as long as each turn says to go on. */
function runWhole(plan: Plan, onTurn: (state: RunState, now: number) => boolean): void {
  let shas = 0;
  const sha = (): string => {
    shas += 1;
    return shas.toString(16).padStart(40, '0');
  };
  let at = 1;
  const started = { type: 'run.started', plan, planHash: '', base: sha(), target: 'main' } as const;
  let state = apply(null, { seq: 1, at, event: started });
  const record = (event: Event): void => {
    at += 1;
    state = apply(state, { seq: at, at, event });
  };
  const working: Effect[] = [];
  while (state.outcome === null) {
    if (!onTurn(state, at)) return;
    const { decisions } = decide(state, at, agents);
    for (const { record: event, perform } of decisions) {
      record(event);
      if (perform !== undefined) working.push(perform);
    }
    if (decisions.length > 0) continue;
    const next = working.findIndex(({ kind }) => kind !== 'attempt');
    for (const effect of working.splice(Math.max(0, next), 1)) record(endOf(effect, sha()));
  }
}

/** How an effect ends well. */
function endOf(effect: Effect, commit: string): Event {
  switch (effect.kind) {
    case 'attempt': {
      const { task, attempt } = effect;
      const said = { files: [`${task}.txt`], outside: [], exitCode: 0, text: '' };
      return { type: 'attempt.finished', task, attempt, commit, ...said };
    }
    case 'merge':
      return { type: 'merge.landed', task: effect.task, onto: effect.onto, commit };
    case 'release':
      return { type: 'workspace.removed', task: effect.task };
    case 'publish':
      return {
        type: 'publish.finished',
        target: 'main',
        commit: effect.head,
        checkout: 'followed',
      };
    case 'verify':
    case 'land':
      throw new Error('there are no gates');
    default:
      return unreachable(effect);
  }
}

/**
 * Random plans: any graph, any limits, any policy that the plan's own checks would let through.
 *
 * Scopes come from a small tree of files, so that the truth about two scopes (do they share a
 * file?) is known without asking the code under test.
 */

import {
  type Assignee,
  type GateSpec,
  type LandingSpec,
  NATIVE_CONVENTIONS,
  NO_OPTIONS,
  NO_SANDBOX,
  type Plan,
  type RetrySpec,
  type TaskSpec,
} from '../../src/model/plan.ts';
import type { Capabilities } from '../../src/schedule/next-attempt.ts';
import { LEAST_BYTES, MOST_BYTES } from './disk.ts';
import { Random } from './random.ts';

/** The agents of every world: one of each sort that policy tells apart. */
export const AGENTS: Readonly<Record<string, Capabilities>> = {
  talker: { resume: true, prose: true },
  forgetful: { resume: false, prose: true },
  stand_in: { resume: true, prose: true },
  script: { resume: false, prose: false },
};

const SCOPES: Readonly<Record<string, readonly string[]>> = {
  'src/**': ['src/a/x.ts', 'src/a/y.css', 'src/b/x.ts', 'src/b/deep/z.ts'],
  'src/a/**': ['src/a/x.ts', 'src/a/y.css'],
  'src/a/x.ts': ['src/a/x.ts'],
  'src/b': ['src/b/x.ts', 'src/b/deep/z.ts'],
  'src/*/x.ts': ['src/a/x.ts', 'src/b/x.ts'],
  '**/*.css': ['src/a/y.css', 'docs/look.css'],
  'src/{b,c}/deep/*.ts': ['src/b/deep/z.ts'],
  'docs/*.md': ['docs/one.md', 'docs/two.md'],
  './docs/one.md': ['docs/one.md'],
  'migrations/': ['migrations/1.sql'],
};

/** Whether two tasks may really write the same file. */
export function reallyMeet(a: TaskSpec, b: TaskSpec): boolean {
  const files = new Set(a.writes.flatMap((glob) => SCOPES[glob] ?? []));
  return b.writes.flatMap((glob) => SCOPES[glob] ?? []).some((file) => files.has(file));
}

/** What a seed's world is asked to do. `budget`: money may run out, which makes time matter. */
export function planFor(seed: number, traits: { budget: boolean; repository: boolean }): Plan {
  const random = new Random(seed, 'plan');
  const groups: Record<string, number> = {};
  if (random.chance(0.7)) groups.db = random.between(1, 2);
  if (random.chance(0.4)) groups.net = random.between(1, 3);
  const landing = { ...landingFor(random), ...orderFor(new Random(seed, 'order')) };
  const tasks = tasksFor(random, traits.repository, landing);
  const gate: GateSpec = { name: 'tests', run: 'true', timeoutMs: 60_000 };
  const passing = new Random(seed, 'passing');
  const isScoped = passing.chance(0.5);
  return {
    name: `world ${seed}`,
    tasks: isScoped ? tasks.map((task) => withWay(passing, task)) : tasks,
    gates: [isScoped ? { ...gate, paths: passing.pick(GATE_PATHS) } : gate].slice(
      random.between(0, 1),
    ),
    workspace: { setup: [], setupKey: [], copy: [], inject: [] },
    landing,
    limits: {
      workers: random.between(1, 6),
      gates: random.between(1, 3),
      groups,
      diskBytes: MOST_BYTES,
      diskFreeBytes: LEAST_BYTES,
      ...(traits.budget ? { budgetUsd: random.between(1, 40) / 10 } : {}),
    },
    sandbox: NO_SANDBOX,
    notify: [],
    conventions: NATIVE_CONVENTIONS,
  };
}

/** What the gate of a world may be about. */
const GATE_PATHS = [['f0'], ['f0', 'f1', 'f2'], ['**']];
const FILES = Array.from({ length: 16 }, (_, nth) => `f${nth}`).concat('f15/below');

/** What the work of a task changes, whoever makes it. */
export function filesOf(seed: number, { id }: Pick<TaskSpec, 'id'>): readonly string[] {
  const random = new Random(seed, 'files', id);
  return random.shuffled(FILES).slice(0, random.between(1, 2));
}

/** Some tasks may pass others. */
function withWay(random: Random, task: TaskSpec): TaskSpec {
  const passes = task.mode === 'write' && random.chance(0.7);
  return passes ? { ...task, independent: true } : task;
}

function landingFor(random: Random): LandingSpec {
  const strategy = random.weighted([
    ['merge', 0.6],
    ['squash', 0.1],
    ['rebase', 0.1],
    ['none', 0.2],
  ] as const);
  return {
    strategy,
    verify: random.pick(['each', 'batch'] as const),
    onConflict: random.chance(0.8) ? 'agent' : 'fail',
    onGateFailure: random.chance(0.8) ? 'agent' : 'fail',
    onSemantic: random.pick(['agent', 'agent', 'warn', 'fail'] as const),
    reworks: random.between(0, 2),
    publish: random.weighted([
      ['end', 0.5],
      ['each', 0.3],
      ['off', 0.2],
    ] as const),
    ...(strategy === 'none' && random.chance(0.7) ? { push: 'origin' } : {}),
  };
}

/** Some plans land in their own order, and some want all or nothing. */
function orderFor(random: Random): Partial<LandingSpec> {
  return {
    ...(random.chance(0.3) ? { order: 'plan' } : {}),
    ...(random.chance(0.15) ? { onConflict: 'hold' } : {}),
  };
}

function tasksFor(
  random: Random,
  repository: boolean,
  { strategy }: LandingSpec,
): readonly TaskSpec[] {
  const count = random.chance(0.2) ? random.between(1, 3) : random.between(4, 25);
  const density = random.pick([0, 0.5, 1, 2]);
  const tasks: TaskSpec[] = [];
  for (let i = 0; i < count; i += 1) {
    const other = random.chance(0.6) ? 'read' : 'here';
    const mode = !repository || random.chance(0.25) ? other : 'write';
    // What stays on its branch is seen by nobody else, so no plan lets a writer need it.
    const seen = tasks.filter(
      (task) => strategy !== 'none' || mode !== 'write' || task.mode !== 'write',
    );
    const needs = seen.filter(() => random.chance(density / i)).map(({ id }) => id);
    tasks.push(taskFor(random, { id: `t${i + 1}`, needs, mode }));
  }
  return random.shuffled(tasks); // A plan may name a task before what it needs.
}

function taskFor(
  random: Random,
  { id, needs, mode }: Pick<TaskSpec, 'id' | 'needs' | 'mode'>,
): TaskSpec {
  const scopes = random.shuffled(Object.keys(SCOPES)).slice(0, random.between(0, 2));
  const group = random.weighted([
    ['db', 0.25],
    ['net', 0.2],
    [undefined, 0.55],
  ]);
  const agent = random.pick(Object.keys(AGENTS));
  const isThere = mode === 'write' && random.chance(0.15);
  const fallbacks = AGENTS[agent]!.prose && random.chance(0.3) ? fallbacksFor(random, agent) : [];
  return {
    id,
    prompt: `Do ${id}`,
    agent,
    ...(fallbacks.length === 0 ? {} : { fallbacks }),
    mode,
    ...(mode === 'read' && new Random(id, 'place').chance(0.4) ? { inPlace: true } : {}),
    needs,
    ...(isThere ? { work: `theirs-${id}` } : {}),
    writes: mode === 'write' && random.chance(0.6) ? scopes : [],
    outside: 'fail',
    forbids: [],
    checks: [],
    ...(group === undefined ? {} : { group }),
    retries: random.between(0, 3),
    ...(random.chance(0.4) ? { retry: retryFor(random) } : {}),
    timeoutMs: 3_600_000,
    idleMs: 60_000,
    permissions: 'default',
    allowEmpty: random.chance(0.2),
    env: {},
    options: NO_OPTIONS,
    hears: AGENTS[agent]!.prose ? needs.filter(() => random.chance(0.5)) : [],
    answer: 'free',
  };
}

function fallbacksFor(random: Random, agent: string): readonly Assignee[] {
  const others = [{ agent: 'stand_in' }, { agent: 'talker' }, { agent, model: 'small' }];
  const some = random.shuffled(others).filter((each) => each.agent !== agent || 'model' in each);
  return some.slice(0, random.between(1, 2));
}

function retryFor(random: Random): RetrySpec {
  return {
    pauseMs: 1_000 * random.pick([0, 5, 30, 400]),
    ...(random.chance(0.5) ? { factor: random.between(0, 4) } : {}),
    session: random.chance(0.5) ? 'resumed' : 'new',
    afterTimeout: random.chance(0.7),
  };
}

/**
 * The simulator: a hundred seeded worlds with failures, commands and crashes, in a few seconds;
 * thousands in the slow tier.
 *
 * A broken rule names its seed. `SIM_SEED=123 vitest run test/sim/sim.test.ts` runs that world
 * alone; `SIM_SEEDS=20000` runs more of them.
 */

import { expect, test } from 'vitest';
import type { FailureKind } from '../../src/model/failure.ts';
import { simulate } from './simulate.ts';
import { Tally } from './tally.ts';

const ONLY = process.env.SIM_SEED;
const WORLDS = Number(process.env.SIM_SEEDS ?? 100);
const seeds = ONLY === undefined ? Array.from({ length: WORLDS }, (_, i) => i) : [Number(ONLY)];
const tally = new Tally();

test(`${seeds.length} seeded worlds break no rule`, {
  timeout: 60_000 + WORLDS * 1_000, // A busy machine.
}, async () => {
  for (const seed of seeds) await simulate(seed, tally);
  console.log(`${tally}`);
});

/** A revision is the fold's conclusion from a review: no event tells of it. */
const EVERY_KIND: Readonly<Record<Exclude<FailureKind, 'revision'>, true>> = {
  auth: true,
  billing: true,
  budget: true,
  cancelled: true,
  'checks-failed': true,
  'commit-failed': true,
  conflict: true,
  'dependency-failed': true,
  'exit-code': true,
  'gate-failed': true,
  'idle-timeout': true,
  interrupted: true,
  'no-change': true,
  'out-of-scope': true,
  permanent: true,
  'push-failed': true,
  'rate-limited': true,
  schema: true,
  semantic: true,
  'session-lost': true,
  skipped: true,
  stuck: true,
  'total-timeout': true,
  transient: true,
  turns: true,
  'workspace-failed': true,
};

test.runIf(WORLDS >= 500 && ONLY === undefined)(
  'the worlds have met everything that can go wrong',
  () => {
    expect([...tally.failures.keys()].sort()).toEqual(Object.keys(EVERY_KIND));
    const least = {
      worlds: 500,
      crashes: 300,
      foundDone: 20,
      attempts: 5_000,
      reworks: 300,
      adoptions: 300,
      mendings: 40,
      edits: 40,
      landings: 1_500,
      deliveries: 300,
      brokenGates: 20,
      publications: 200,
      blocked: 50,
      kept: 200,
      stops: 100,
      cancellations: 100,
      pauses: 40,
      suspensions: 20,
      pausedTasks: 20,
      reviews: 15,
      newLimits: 20,
      approvals: 2,
      retries: 60,
      skips: 60,
      shortages: 200,
      resumed: 500,
      jumps: 200,
      repeated: 300,
      lost: 40,
      overtaken: 40,
      late: 10,
      passed: 40,
      lingering: 15,
    };
    const met: typeof least = {
      worlds: tally.worlds,
      crashes: tally.crashes,
      foundDone: tally.foundDone,
      attempts: tally.of('attempt.started'),
      reworks: tally.of('rework'),
      adoptions: tally.of('work.adopted'),
      mendings: tally.of('work.mended'),
      edits: tally.of('run.replanned'),
      landings: tally.of('merge.landed'),
      deliveries: tally.of('work.delivered'),
      brokenGates: tally.of('gate.broken'),
      publications: tally.of('publish.finished'),
      blocked: tally.of('publish.blocked'),
      kept: tally.of('workspace.kept'),
      stops: tally.of('run.stopping'),
      cancellations: tally.of('task.cancelled'),
      pauses: tally.of('run.paused'),
      suspensions: tally.of('suspended'),
      pausedTasks: tally.of('task.paused'),
      reviews: tally.of('task.commented'),
      newLimits: tally.of('run.limited'),
      approvals: tally.of('publish.approved'),
      retries: tally.of('task.retried'),
      skips: tally.of('task.skipped'),
      shortages: tally.of('run.held'),
      resumed: tally.of('run.resumed'),
      jumps: tally.jumps,
      repeated: tally.repeated,
      lost: tally.lost,
      overtaken: tally.overtaken,
      late: tally.late,
      passed: tally.passed,
      lingering: tally.lingering,
    };
    const missed = Object.entries(least).filter(
      ([key, value]) => met[key as keyof typeof met] < value,
    );
    expect(missed, JSON.stringify(met)).toEqual([]);
  },
);

test('a seed is one world: simulated again, it writes the same journal', async () => {
  const ignored = new Tally();
  for (const seed of [6, 7, 8, 9, 10, 11]) {
    expect(await simulate(seed, ignored)).toEqual(await simulate(seed, ignored));
  }
});

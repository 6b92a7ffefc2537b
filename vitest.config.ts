/**
 * The tiers: `fast` is what `npm test` runs. The others drive real agent CLIs from npm against
 * scripted APIs on loopback, one tier each (`npm run test:agents` runs all of them), or need
 * bubblewrap (`npm run test:fence`), or time (`npm run test:slow`, `test:chaos`, `test:faults`).
 */
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const REAL_AGENTS = ['claude', 'codex', 'gemini', 'opencode', 'acp'];
/** Needs bubblewrap, which a fresh machine does not have. */
const FENCE = 'fence';
/** Kills the engine at every step, for many minutes. */
const CHAOS = 'chaos';
/** Full disks, locks and sleeping machines: some of it has to be waited for. */
const FAULTS = 'faults';
const APART = [...REAL_AGENTS, FENCE, CHAOS, FAULTS];
/** Planted bugs and hostile texts: minutes of processor time. */
const SLOW = ['test/sim/mutants.test.ts', 'test/plan/hostile.test.ts'];
/** Property tests: a few seeds are fast, many are slow (test/support/seeds.ts). */
const SEEDED = ['test/merge/gate-dirt.test.ts', 'test/differential/run-like-git.test.ts'];

export default defineConfig({
  test: {
    // Most tests wait for processes: two cores keep two files busy.
    maxWorkers: Math.max(2, availableParallelism()),
    projects: [
      {
        test: {
          name: 'fast',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...APART.map((name) => `test/${name}/**`), ...SLOW],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'slow',
          include: [...SLOW, ...SEEDED],
          env: { FUZZ_SEEDS: process.env.FUZZ_SEEDS ?? '60' },
          testTimeout: 240_000,
        },
      },
      ...APART.map((name) => ({
        test: {
          name,
          include: [`test/${name}/**/*.test.ts`],
          testTimeout: name === CHAOS ? 6 * 3_600_000 : 120_000,
          fileParallelism: false,
        },
      })),
    ],
  },
});

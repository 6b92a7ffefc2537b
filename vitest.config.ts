/**
 * The tiers: `fast` is what `npm test` runs, with a sample of what takes long; `slow` is the whole
 * of it (`npm run test:slow`); `long` are further whole runs (`npm run test:long`). The others drive
 * real agent CLIs from npm against scripted APIs on loopback, one tier each (`npm run test:agents`
 * runs all of them), or need bubblewrap (`npm run test:fence`), or time (`test:chaos`, `test:faults`).
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
/** For a machine that is busy with thirty other things. */
const TIMEOUT = 300_000;
const TIMEOUTS: Readonly<Record<string, number>> = { [CHAOS]: 6 * 3_600_000, [FAULTS]: 600_000 };
const APART = [...REAL_AGENTS, FENCE, CHAOS, FAULTS];
/** Planted bugs, hostile texts, long queues, the benchmark, the packed package, what is measured. */
const SLOW = [
  'test/library/declarations.test.ts',
  'test/e2e/repository-kinds.test.ts',
  'test/sim/mutants.test.ts',
  'test/plan/hostile.test.ts',
  'test/merge/queue.test.ts',
  'test/e2e/bench.test.ts',
  'test/e2e/long-lines.test.ts',
  'test/e2e/past-runs.test.ts',
];
/** Whole runs that take seconds each: special cases of what other files of `fast` show. */
const LONG = [
  'test/compat/{cast-streams,cco-agents,cco-run,cpo-packages,cpo-running,example-folders}.test.ts',
  'test/compat/{orchestra-collect,orchestra-spawn,po-resume,steer-keeping}.test.ts',
  'test/e2e/{broken-attempts,cleanup-landed,detach,disk,link,mended,pains,publish-blocked}.test.ts',
  'test/e2e/{radar,regressions,rewritten-target,signing,steer-pause,steer-people}.test.ts',
  'test/e2e/user-gc.test.ts',
  'test/library/page.test.ts',
  'test/merge/{plain-folders,settle}.test.ts',
  'test/workspace/{restore,seeds}.test.ts',
];
/** Of these a sample is fast (test/support/seeds.ts). */
const SAMPLED = [
  'test/sim/sim.test.ts',
  'test/differential/run-like-git.test.ts',
  'test/merge/gate-dirt.test.ts',
  'test/merge/numbers.test.ts',
  'test/compat/corpus.test.ts',
  'test/e2e/demo.test.ts',
  'test/e2e/program.test.ts',
  'test/e2e/stream.test.ts',
];
const { FUZZ_SEEDS = '60', SIM_SEEDS = '5000' } = process.env;
/** Files share processes: one for each file would take as long as most files do. */
const TOGETHER = {
  isolate: false,
  unstubEnvs: true,
  restoreMocks: true,
  testTimeout: TIMEOUT,
  hookTimeout: TIMEOUT,
};

export default defineConfig({
  test: {
    // Most tests wait for processes: two cores keep four files busy.
    maxWorkers: 2 * Math.max(2, availableParallelism()),
    projects: [
      {
        test: {
          ...TOGETHER,
          name: 'fast',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...APART.map((name) => `test/${name}/**`), ...SLOW, ...LONG],
        },
      },
      { test: { ...TOGETHER, name: 'long', include: LONG } },
      {
        test: {
          name: 'slow',
          include: [...SLOW, ...SAMPLED],
          env: { WHOLE: '1', FUZZ_SEEDS, SIM_SEEDS },
          testTimeout: TIMEOUT,
          hookTimeout: TIMEOUT,
          // What is measured here should not wait for others.
          maxWorkers: Math.max(2, availableParallelism()),
        },
      },
      ...APART.map((name) => ({
        test: {
          name,
          include: [`test/${name}/**/*.test.ts`],
          ...(REAL_AGENTS.includes(name)
            ? { globalSetup: ['test/support/agents/install.ts'] }
            : {}),
          testTimeout: TIMEOUTS[name] ?? TIMEOUT,
          fileParallelism: false,
        },
      })),
    ],
  },
});

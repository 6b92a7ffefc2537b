/**
 * The tiers: `fast` is what `npm test` runs. The others drive real agent CLIs from npm against
 * scripted APIs on loopback, one tier each (`npm run test:agents` runs all of them).
 */
import { defineConfig } from 'vitest/config';

const REAL_AGENTS = ['claude', 'codex', 'gemini', 'opencode', 'acp'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'fast',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: REAL_AGENTS.map((name) => `test/${name}/**`),
          testTimeout: 30_000,
        },
      },
      ...REAL_AGENTS.map((name) => ({
        test: {
          name,
          include: [`test/${name}/**/*.test.ts`],
          testTimeout: 120_000,
          fileParallelism: false,
        },
      })),
    ],
  },
});

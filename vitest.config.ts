/** Two tiers: `fast` is what `npm test` runs, `claude` drives the real Claude Code CLI (.ci/run). */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'fast',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['test/claude/**'],
          testTimeout: 30_000,
        },
      },
      { test: { name: 'claude', include: ['test/claude/**/*.test.ts'], testTimeout: 120_000 } },
    ],
  },
});

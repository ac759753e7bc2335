import { defineConfig } from 'vitest/config';

const MINUTE = 60_000;

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      { test: { name: 'contract', include: ['test/contract/**/*.test.ts'] } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: MINUTE,
          hookTimeout: MINUTE,
        },
      },
      {
        // One engine, two cores: container tests take turns.
        test: {
          name: 'container',
          include: ['test/container/**/*.test.ts', 'test/prove/*.test.ts'],
          globalSetup: ['test/support/containers.ts'],
          fileParallelism: false,
          // Real engines and browsers on a shared machine: one failure in a thousand tests must not undo a run. The
          // reporter marks what was retried, and a retried test is a fault to look into.
          retry: process.env['CI'] === 'true' ? 1 : 0,
          testTimeout: 3 * MINUTE,
          hookTimeout: 10 * MINUTE,
        },
      },
    ],
  },
});

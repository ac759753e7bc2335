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
          include: ['test/container/**/*.test.ts'],
          globalSetup: ['test/support/containers.ts'],
          fileParallelism: false,
          testTimeout: 3 * MINUTE,
          hookTimeout: 10 * MINUTE,
        },
      },
    ],
  },
});

import { defineConfig } from 'vitest/config';

const CONTRACT_SUITES = ['test/contract/**/*.test.ts'];
const END_TO_END = ['test/e2e/**/*.test.ts'];

/** The same contract suites, told through the environment which backend to open. */
function contractProject(backend: 'pglite' | 'postgres') {
  return {
    test: {
      name: `contract-${backend}`,
      include: CONTRACT_SUITES,
      env: { PALIMPSEST_TEST_BACKEND: backend },
      // Opening a PGlite takes over a second on two cores, longer when every core is opening one.
      testTimeout: 30_000,
      hookTimeout: 60_000,
    },
  };
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...CONTRACT_SUITES, ...END_TO_END],
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      contractProject('pglite'),
      contractProject('postgres'),
      {
        test: {
          name: 'e2e',
          include: END_TO_END,
          // Real processes with ports, locks and kills: one after another, and time to start them.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});

import { defineConfig } from 'vitest/config';

const CONTRACT_SUITES = ['test/contract/**/*.test.ts'];
const END_TO_END = ['test/e2e/**/*.test.ts'];
/** What is waited for may come late on a busy machine; without this `expect.poll` gives up after a second. */
const PATIENT = { poll: { timeout: 30_000 } };

/** The same contract suites, told through the environment which backend to open. */
function contractProject(backend: 'pglite' | 'postgres') {
  return {
    test: {
      name: `contract-${backend}`,
      include: CONTRACT_SUITES,
      env: { PALIMPSEST_TEST_BACKEND: backend },
      expect: PATIENT,
      // Ends a test that hangs; a slow machine must not fail one.
      testTimeout: 120_000,
      hookTimeout: 120_000,
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
          expect: PATIENT,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      contractProject('pglite'),
      contractProject('postgres'),
      {
        test: {
          name: 'e2e',
          include: END_TO_END,
          expect: PATIENT,
          // Real processes with ports, locks and kills: one after another, and time to start them.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});

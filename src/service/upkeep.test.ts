import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { GovernanceStore } from '../core/governance.ts';
import { runUpkeep, startUpkeep, type UpkeepParts } from './upkeep.ts';

const NOW = Date.UTC(2026, 4, 2, 12);
const DAY = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Before = Parameters<GovernanceStore['expireRecords']>[1];

function parts(overrides: Partial<UpkeepParts> = {}) {
  const asked: [string, Before][] = [];
  const warnings: string[] = [];
  const governance = {
    tenantIds: async () => ['a', 'b'],
    async expireRecords(tenantId: string, before: Before) {
      asked.push([tenantId, before]);
      return { audit: 1, traces: 2, idempotency: 3 };
    },
  } satisfies Partial<GovernanceStore> as unknown as GovernanceStore;
  const made: UpkeepParts = {
    governance,
    clock: () => NOW,
    retention: { auditDays: 365, traceDays: 30 },
    log: { warn: (message) => warnings.push(message) },
    ...overrides,
  };
  return { made, asked, warnings };
}

test('asks every tenant to let go of what is older, and counts what went', async () => {
  const { made, asked } = parts();
  expect(await runUpkeep(made)).toEqual({ audit: 2, traces: 4, idempotency: 6 });
  const before = { audit: NOW - 365 * DAY, traces: NOW - 30 * DAY, idempotency: NOW - DAY };
  expect(asked).toEqual([
    ['a', before],
    ['b', before],
  ]);
});

test('null keeps everything, and 0 days nothing', async () => {
  const { made, asked } = parts({ retention: { auditDays: null, traceDays: 0 } });
  await runUpkeep(made);
  expect(asked[0]?.[1]).toMatchObject({ audit: null, traces: NOW });
});

test('runs after about a minute, then about every hour, until it is stopped', async () => {
  const { made, asked } = parts();
  // The middle of the jitter: 0.75 + 0.5 / 2 = 1.
  const stop = startUpkeep(made, () => 0.5);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(asked).toHaveLength(4);
  await stop();
  await vi.advanceTimersByTimeAsync(10 * 3_600_000);
  expect(asked).toHaveLength(4);
});

test('a run that fails is logged and does not end the next', async () => {
  let failures = 0;
  const { made, asked, warnings } = parts();
  const governance = {
    ...made.governance,
    async tenantIds() {
      failures += 1;
      if (failures === 1) throw new Error('down');
      return ['a'];
    },
  };
  const stop = startUpkeep({ ...made, governance }, () => 0.5);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(warnings).toHaveLength(1);
  expect(asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(asked).toHaveLength(1);
  await stop();
});

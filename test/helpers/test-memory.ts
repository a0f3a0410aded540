import { openMemoryService } from '../../src/app.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { OpenedMemory } from '../../src/library/opened-memory.ts';
import type { MemoryService } from '../../src/service/memory-service.ts';
import { testLocation } from './test-store.ts';

/** A memory on the suite's backend whose time stands still until a test moves it. */
export interface TestMemory {
  readonly memory: OpenedMemory;
  readonly service: MemoryService;
  /** Milliseconds since the epoch. */
  now(): number;
  advance(milliseconds: number): void;
  close(): Promise<void>;
}

export const DAY_MS = 86_400_000;

export async function openTestMemory(
  provider: EmbeddingProvider = createHashingProvider(),
): Promise<TestMemory> {
  let now = Date.parse('2026-05-02T12:00:00Z');
  const { location, drop } = await testLocation();
  const opened = await openMemoryService({ location, embedding: provider, clock: () => now });
  return {
    memory: new OpenedMemory(opened),
    service: opened.service,
    now: () => now,
    advance: (milliseconds) => {
      now += milliseconds;
    },
    close: async () => {
      await opened.close();
      await drop();
    },
  };
}

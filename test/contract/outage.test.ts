import { expect, test } from 'vitest';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { runOutage } from '../helpers/outage.ts';
import { testLocation } from '../helpers/test-store.ts';

/** `npm run bench -- outage-drill` is the same for longer, with a real model's vectors. */

test('a service that answers 429, then 500, then nothing is no error of sixteen callers (CASES D7, F14)', async () => {
  const dimensions = 64;
  const provider = createHashingProvider({ dimensions });
  const { location, drop } = await testLocation();
  try {
    const { phases, errors, wrongTraces, backlog, coverage } = await runOutage({
      location,
      vectorOf: async (text) => [...((await provider.embed([text], 'document'))[0] ?? [])],
      dimensions,
      texts: Array.from({ length: 40 }, (_, index) => `The heron waits near bridge ${index}.`),
      writes: Array.from({ length: 60 }, (_, index) => `Her sister sings in room ${index}.`),
      queries: ['Where does the heron wait?', 'her sister sings', 'bridge 7'],
      callers: 16,
      phaseMs: 1_500,
    });
    expect(errors).toEqual([]);
    expect(wrongTraces).toEqual([]);
    expect(phases.map(({ service }) => service)).toEqual(['answers', '429', '500', 'hangs']);
    const models = new Set(phases.flatMap(({ byModel }) => Object.keys(byModel)));
    expect(models).toEqual(new Set(['openai/drill/64', 'hashing-512-v1']));
    // A phase begins with recalls of the one before under way; then the fallback answers.
    for (const { service, recalls, byModel } of phases.slice(1)) {
      expect(recalls, service).toBeGreaterThan(0);
      expect(byModel['hashing-512-v1'] ?? 0, service).toBeGreaterThan(0);
    }
    expect(backlog).toBeGreaterThan(0);
    expect(Object.keys(coverage)).toEqual(['whole']);
  } finally {
    await drop();
  }
}, 180_000);

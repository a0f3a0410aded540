import { describe, expect, test } from 'vitest';
import type { EmbeddingProvider } from '../core/ports.ts';
import { checkedProvider } from './checked.ts';
import { createHashingProvider } from './hashing.ts';
import { probeProvider } from './probe.ts';

const honest = createHashingProvider();

/** The hashing provider with its vectors changed. `call` counts the calls, from 0. */
function changed(
  change: (vector: Float32Array | null, item: number, call: number) => Float32Array | null,
): EmbeddingProvider {
  let call = -1;
  return checkedProvider({
    ...honest,
    async embed(texts, purpose) {
      call += 1;
      const current = call;
      const vectors = await honest.embed(texts, purpose);
      return vectors.map((vector, item) => change(vector, item, current));
    },
  });
}

const reversed = (vector: Float32Array | null) => vector?.toReversed() ?? null;

describe('probing a provider', () => {
  test('finds nothing wrong with one that works, and gives a fingerprint to keep', async () => {
    const { modelId, fingerprint } = await probeProvider(honest);
    expect(modelId).toBe('hashing-512-v1');
    expect(fingerprint).toHaveLength(512);
    await expect(probeProvider(honest, { known: fingerprint })).resolves.toMatchObject({ modelId });
  });

  test('bears what half precision does to a vector', async () => {
    const noise = (call: number, index: number) => 1e-3 * Math.sin(17 * index + call);
    const noisy = changed(
      (vector, _, call) => vector?.map((value, index) => value + noise(call, index)) ?? null,
    );
    await expect(probeProvider(noisy)).resolves.toBeDefined();
  });

  test.each([
    [
      'vectors that change between calls',
      (vector: Float32Array | null, _: number, call: number) => (call === 1 ? reversed(vector) : vector),
      /different vectors \(cosine -?0\.\d+ between two calls/,
    ],
    [
      'vectors that depend on their place in the call',
      (vector: Float32Array | null, item: number) => (item === 1 ? reversed(vector) : vector),
      /different vectors/,
    ],
    [
      'one vector for all texts',
      () => Float32Array.from({ length: 512 }, () => 1),
      /different texts one vector/,
    ],
    ['nothing to embed in a sentence', () => null, /nothing to embed in a plain English sentence/],
  ])('finds %s', async (_, change, message) => {
    await expect(probeProvider(changed(change))).rejects.toMatchObject({
      code: 'embedding_failed',
      message: expect.stringMatching(message),
    });
  });

  test('finds another model under the name of the one before', async () => {
    const { fingerprint } = await probeProvider(honest);
    await expect(probeProvider(changed(reversed), { known: fingerprint })).rejects.toThrow(
      /is not the model it was \(cosine/,
    );
    const shorter = createHashingProvider({ dimensions: 256 });
    await expect(probeProvider(shorter, { known: fingerprint })).rejects.toThrow(/is not the model it was/);
  });
});

import { describe, expect, test } from 'vitest';
import type { EmbeddingProvider } from '../core/ports.ts';
import { cachedProvider } from './cached.ts';

/** Tells apart texts and purposes; a text with `long` in it is cut. Records what it was asked. */
function recordingProvider(modelId = 'm') {
  const asked: string[][] = [];
  const inner: EmbeddingProvider = {
    modelId,
    dimensions: 2,
    async embed(texts, purpose, options) {
      asked.push([purpose, ...texts]);
      return texts.map((text, item) => {
        if (text.includes('long')) options?.onPartial?.(item, 'truncated');
        return text === '' ? null : Float32Array.of(text.length, purpose === 'query' ? 1 : 0);
      });
    },
  };
  return { inner, asked };
}

describe('a cache of vectors', () => {
  test('asks for a text once, within a call and between calls', async () => {
    const { inner, asked } = recordingProvider();
    const cached = cachedProvider(inner);
    expect(await cached.embed(['a', 'bb', 'a'], 'document')).toEqual([
      Float32Array.of(1, 0),
      Float32Array.of(2, 0),
      Float32Array.of(1, 0),
    ]);
    expect(await cached.embed(['bb', 'ccc'], 'document')).toEqual([
      Float32Array.of(2, 0),
      Float32Array.of(3, 0),
    ]);
    expect(asked).toEqual([
      ['document', 'a', 'bb'],
      ['document', 'ccc'],
    ]);
  });

  test('keeps queries and documents apart: models put different prefixes before them', async () => {
    const { inner, asked } = recordingProvider();
    const cached = cachedProvider(inner);
    expect(await cached.embed(['a'], 'document')).toEqual([Float32Array.of(1, 0)]);
    expect(await cached.embed(['a'], 'query')).toEqual([Float32Array.of(1, 1)]);
    expect(asked).toHaveLength(2);
  });

  test('remembers that there was nothing to embed, and how much of a text was embedded', async () => {
    const { inner, asked } = recordingProvider();
    const cached = cachedProvider(inner);
    const partials: unknown[] = [];
    const onPartial = (item: number, coverage: string) => partials.push([item, coverage]);
    for (let time = 0; time < 2; time += 1) {
      const [nothing] = await cached.embed(['', 'long text'], 'document', { onPartial });
      expect(nothing).toBeNull();
    }
    expect(partials).toEqual([
      [1, 'truncated'],
      [1, 'truncated'],
    ]);
    expect(asked).toHaveLength(1);
  });

  test('gives copies: what a caller does to its vector is nobody else’s', async () => {
    const cached = cachedProvider(recordingProvider().inner);
    const [first, same] = await cached.embed(['a', 'a'], 'document');
    first?.fill(99);
    expect(same).toEqual(Float32Array.of(1, 0));
    expect(await cached.embed(['a'], 'document')).toEqual([Float32Array.of(1, 0)]);
  });

  test('is bounded: what was used longest ago goes first', async () => {
    const { inner, asked } = recordingProvider();
    // Two dimensions take 8 bytes, an entry 200 more: 416 bytes hold two.
    const cached = cachedProvider(inner, { maxBytes: 416 });
    await cached.embed(['a'], 'document');
    await cached.embed(['b'], 'document');
    await cached.embed(['a'], 'document');
    await cached.embed(['c'], 'document');
    await cached.embed(['a'], 'document');
    await cached.embed(['b'], 'document');
    expect(asked.map(([, text]) => text)).toEqual(['a', 'b', 'c', 'b']);
  });

  test('does not remember an error', async () => {
    const { inner, asked } = recordingProvider();
    let isDown = true;
    const cached = cachedProvider({
      ...inner,
      embed: (...call) => (isDown ? Promise.reject(new Error('down')) : inner.embed(...call)),
    });
    await expect(cached.embed(['a'], 'document')).rejects.toThrow('down');
    isDown = false;
    expect(await cached.embed(['a'], 'document')).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  test('hands the signal on', async () => {
    const cached = cachedProvider({
      modelId: 'm',
      dimensions: 2,
      embed: async (_texts, _purpose, options) => Promise.reject(options?.signal?.reason),
    });
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(cached.embed(['a'], 'query', { signal })).rejects.toThrow('enough');
  });
});

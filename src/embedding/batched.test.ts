import { describe, expect, test } from 'vitest';
import type { EmbeddingProvider, EmbedOptions } from '../core/ports.ts';
import { batchedProvider } from './batched.ts';
import { EmbeddingCallError } from './remote/call-error.ts';

type Embed = EmbeddingProvider['embed'];

function recordingProvider(embed?: Embed) {
  const asked: string[][] = [];
  const inner: EmbeddingProvider = {
    modelId: 'm',
    dimensions: 1,
    async embed(texts, purpose, options) {
      asked.push([purpose, ...texts]);
      if (embed !== undefined) return embed(texts, purpose, options);
      return texts.map((text, item) => {
        if (text.includes('long')) options?.onPartial?.(item, 'chunked');
        return text === '' ? null : Float32Array.of(text.length);
      });
    },
  };
  return { inner, asked };
}

describe('one call for many requests', () => {
  test('puts together what comes at one time, each caller with its own vectors', async () => {
    const { inner, asked } = recordingProvider();
    const batched = batchedProvider(inner);
    const partials: unknown[] = [];
    const answers = await Promise.all([
      batched.embed(['a', 'bb'], 'document'),
      batched.embed(['long text', 'a'], 'document', { onPartial: (...what) => partials.push(what) }),
      batched.embed([''], 'document'),
      batched.embed([], 'document'),
    ]);
    expect(answers).toEqual([
      [Float32Array.of(1), Float32Array.of(2)],
      [Float32Array.of(9), Float32Array.of(1)],
      [null],
      [],
    ]);
    expect(asked).toEqual([['document', 'a', 'bb', 'long text', '']]);
    expect(partials).toEqual([[0, 'chunked']]);
  });

  test('keeps queries and documents apart', async () => {
    const { inner, asked } = recordingProvider();
    const batched = batchedProvider(inner);
    await Promise.all([batched.embed(['a'], 'query'), batched.embed(['a'], 'document')]);
    expect(asked).toEqual([
      ['query', 'a'],
      ['document', 'a'],
    ]);
  });

  test('does not wait for more once it is full', async () => {
    const { inner, asked } = recordingProvider();
    const batched = batchedProvider(inner, { waitMs: 60_000, maxTexts: 3 });
    await Promise.all([batched.embed(['a', 'b'], 'document'), batched.embed(['c'], 'document')]);
    expect(asked).toEqual([['document', 'a', 'b', 'c']]);
  });

  test('gives equal texts of two callers copies of one vector', async () => {
    const batched = batchedProvider(recordingProvider().inner);
    const [[mine], [yours]] = await Promise.all([
      batched.embed(['a'], 'query'),
      batched.embed(['a'], 'query'),
    ]);
    mine?.fill(99);
    expect(yours).toEqual(Float32Array.of(1));
  });

  test('an outage fails for all of them, with one call', async () => {
    const { inner, asked } = recordingProvider(async () => {
      throw new EmbeddingCallError('server_error', 'It is down.');
    });
    const batched = batchedProvider(inner);
    const answers = await Promise.allSettled(['a', 'b', 'c'].map((text) => batched.embed([text], 'query')));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(asked).toHaveLength(1);
  });

  test('a text that is refused fails only for whoever sent it', async () => {
    const { inner } = recordingProvider(async (texts) => {
      if (texts.includes('bad')) throw new EmbeddingCallError('refused', 'It answered 400.');
      return texts.map((text) => Float32Array.of(text.length));
    });
    const batched = batchedProvider(inner);
    const [good, bad] = await Promise.allSettled([
      batched.embed(['good'], 'document'),
      batched.embed(['bad'], 'document'),
    ]);
    expect(good).toEqual({ status: 'fulfilled', value: [Float32Array.of(4)] });
    expect(bad.status).toBe('rejected');
  });

  test('a caller that gives up leaves, and the others get their answer', async () => {
    const { inner, asked } = recordingProvider();
    const batched = batchedProvider(inner);
    const aborter = new AbortController();
    const leaving = batched.embed(['a'], 'query', { signal: aborter.signal });
    const staying = batched.embed(['bb'], 'query');
    aborter.abort(new Error('enough'));
    await expect(leaving).rejects.toThrow('enough');
    expect(await staying).toEqual([Float32Array.of(2)]);
    expect(asked).toEqual([['query', 'bb']]);
  });

  test('a batch that everybody left is there for whoever comes next', async () => {
    const batched = batchedProvider(
      recordingProvider((texts, _purpose, options) => {
        options?.signal?.throwIfAborted();
        return Promise.resolve(texts.map(({ length }) => Float32Array.of(length)));
      }).inner,
    );
    const aborter = new AbortController();
    const leaving = batched.embed(['a'], 'query', { signal: aborter.signal });
    aborter.abort(new Error('enough'));
    await expect(leaving).rejects.toThrow('enough');
    expect(await batched.embed(['bb'], 'query')).toEqual([Float32Array.of(2)]);
  });

  test('when all have given up nothing is asked, or what was asked is given up', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { inner, asked } = recordingProvider(
      (_texts, _purpose, options: EmbedOptions = {}) =>
        new Promise((_, reject) => {
          signals.push(options.signal);
          options.signal?.addEventListener('abort', () => reject(options.signal?.reason));
        }),
    );
    const batched = batchedProvider(inner);
    const early = new AbortController();
    const before = batched.embed(['a'], 'query', { signal: early.signal });
    early.abort(new Error('before it was sent'));
    await expect(before).rejects.toThrow('before it was sent');
    const late = new AbortController();
    const after = batched.embed(['b'], 'query', { signal: late.signal });
    await expect.poll(() => asked.length).toBe(1);
    late.abort(new Error('after it was sent'));
    await expect(after).rejects.toThrow('after it was sent');
    expect(asked).toEqual([['query', 'b']]);
    expect(signals[0]?.aborted).toBe(true);
  });
});

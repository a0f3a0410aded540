import { expect, test } from 'vitest';
import type { EmbeddingProvider } from '../core/ports.ts';
import type { EmbeddingEvent } from './events.ts';
import { observedProvider } from './observed.ts';

function observed(embed: EmbeddingProvider['embed']) {
  const events: EmbeddingEvent[] = [];
  const inner = { modelId: 'm', dimensions: 2, embed };
  return { events, provider: observedProvider(inner, (event) => events.push(event)) };
}

test('tells of calls that were answered', async () => {
  const { events, provider } = observed(async (texts) => texts.map(() => new Float32Array(2)));
  expect(await provider.embed(['a', 'b'], 'query')).toHaveLength(2);
  const durationMs = expect.any(Number);
  expect(events).toEqual([{ kind: 'answered', modelId: 'm', purpose: 'query', texts: 2, durationMs }]);
});

test('tells of calls that failed, and lets the failure through', async () => {
  const { events, provider } = observed(() => Promise.reject(new Error('The worker died.')));
  await expect(provider.embed(['a'], 'document')).rejects.toThrow('The worker died.');
  const durationMs = expect.any(Number);
  expect(events).toEqual([
    { kind: 'failed', modelId: 'm', purpose: 'document', failure: 'local_model', durationMs },
  ]);
});

test('does not call it a failure that somebody gave a call up', async () => {
  const { events, provider } = observed((_texts, _purpose, options) =>
    Promise.reject(options?.signal?.reason),
  );
  const signal = AbortSignal.abort(new Error('Enough.'));
  await expect(provider.embed(['a'], 'query', { signal })).rejects.toThrow('Enough.');
  expect(events).toEqual([]);
});

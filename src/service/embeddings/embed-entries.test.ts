import { describe, expect, test } from 'vitest';
import type { ClaimedEntry } from '../../core/embedding-store.ts';
import { PalimpsestError } from '../../core/errors.ts';
import type { EmbeddingProvider } from '../../core/ports.ts';
import { singleModelService } from '../../core/single-model.ts';
import { embedEntries, ModelDownError } from './embed-entries.ts';

function entry(content: string): ClaimedEntry {
  return { memoryId: content, namespace: 'a', contentHash: content, document: { content } };
}

/** A model that fails at texts as told, and notes what it was asked. */
function modelThat(fails: (text: string, call: number) => boolean) {
  const asked: string[][] = [];
  const provider: EmbeddingProvider = {
    modelId: 'm',
    dimensions: 1,
    async embed(texts) {
      asked.push([...texts]);
      if (texts.some((text) => fails(text, asked.length))) {
        throw new PalimpsestError('embedding_failed', 'No.', { retryAfterSeconds: 7 });
      }
      return texts.map(() => Float32Array.of(1));
    },
  };
  return { asked, service: singleModelService(provider) };
}

const NEVER = new AbortController().signal;
const EIGHT = Array.from({ length: 8 }, (_, index) => entry(`text ${index}`));

describe('a batch that a model fails at', () => {
  test('is given back after two calls where the model is down, however large it is', async () => {
    const { asked, service } = modelThat(() => true);
    const failure = embedEntries(service, 'm', EIGHT, NEVER, () => 0.5);
    await expect(failure).rejects.toBeInstanceOf(ModelDownError);
    await expect(failure).rejects.toMatchObject({ message: 'No.', afterMs: 7_000 });
    expect(asked.map(({ length }) => length)).toEqual([8, 1]);
    expect(asked[1]).toEqual(['Does this model answer? 0.5']);
  });

  test('is halved until the text at fault is alone; all others are embedded', async () => {
    const { asked, service } = modelThat((text) => text === 'text 5');
    const settled = await embedEntries(service, 'm', EIGHT, NEVER);
    expect(settled.map(({ memoryId }) => memoryId)).toEqual(EIGHT.map(({ memoryId }) => memoryId));
    const refused = settled.filter(({ outcome }) => 'refusal' in outcome);
    expect(refused).toMatchObject([{ memoryId: 'text 5', outcome: { refusal: 'No.' } }]);
    // 8, 4 + 4, 2 + 2, 1 + 1: seven calls, and a harmless text after each of the four that failed.
    expect(asked).toHaveLength(7 + 4);
  });

  test('refuses nothing where the model goes down on the way', async () => {
    const { service } = modelThat((text, call) => text === 'text 0' || call > 4);
    await expect(embedEntries(service, 'm', EIGHT, NEVER)).rejects.toBeInstanceOf(ModelDownError);
  });

  test('ends with the reason of whoever gave it up', async () => {
    const stop = new AbortController();
    const { service } = modelThat(() => {
      stop.abort(new Error('enough'));
      return true;
    });
    await expect(embedEntries(service, 'm', EIGHT, stop.signal)).rejects.toThrow('enough');
  });
});

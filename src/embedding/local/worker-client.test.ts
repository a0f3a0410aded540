import { afterEach, describe, expect, test } from 'vitest';
import { type WorkerClient, workerClient } from './worker-client.ts';

const ENTRY = new URL('../../../test/helpers/erratic-worker.ts', import.meta.url);
const opened: WorkerClient[] = [];

function client(options: { readonly textsPerMessage?: number; readonly timeoutMs?: number } = {}) {
  const made = workerClient(
    { engine: 'minilm', files: null, longText: {} },
    { textsPerMessage: 1, timeoutMs: 10_000, entry: ENTRY, ...options },
  );
  opened.push(made);
  return made;
}

afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

const lengthsOf = async (answers: ReturnType<WorkerClient['embed']>) =>
  (await answers).map(({ vector }) => vector?.[0]);

describe('a model in a thread', () => {
  test.each([1, 2, 23])('answers in order, %d texts a message', async (textsPerMessage) => {
    const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee'];
    expect(await lengthsOf(client({ textsPerMessage }).embed(texts, 'document', undefined))).toEqual([
      1, 2, 3, 4, 5,
    ]);
  });

  test('lets a query go before the documents that wait', async () => {
    const worker = client();
    const order: string[] = [];
    const documents = worker
      .embed(['a', 'b', 'c', 'd'], 'document', undefined)
      .then(() => order.push('documents'));
    const more = worker.embed(['e'], 'document', undefined).then(() => order.push('more'));
    const query = worker.embed(['f'], 'query', undefined).then(() => order.push('query'));
    await Promise.all([documents, more, query]);
    expect(order).toEqual(['query', 'documents', 'more']);
  });

  test('an error of the engine is that call’s alone', async () => {
    const worker = client();
    const refused = worker.embed(['refuse'], 'document', undefined);
    const fine = lengthsOf(worker.embed(['fine'], 'document', undefined));
    await expect(refused).rejects.toMatchObject({ code: 'embedding_failed', message: 'refused' });
    expect(await fine).toEqual([4]);
  });

  test.each([
    ['exit', /ended with code 3/],
    ['throw', /the engine broke/],
  ])(
    'a thread that dies (%s) fails what it was busy with, and the rest goes to a new one',
    async (text, message) => {
      const worker = client();
      const lost = worker.embed([text], 'document', undefined);
      const waiting = lengthsOf(worker.embed(['waiting'], 'document', undefined));
      await expect(lost).rejects.toMatchObject({
        code: 'embedding_failed',
        message: expect.stringMatching(message),
      });
      expect(await waiting).toEqual([7]);
    },
  );

  test('a thread that hangs is ended, and the rest goes to a new one', async () => {
    const worker = client({ timeoutMs: 5_000 });
    const lost = worker.embed(['hang'], 'document', undefined);
    const waiting = lengthsOf(worker.embed(['waiting'], 'document', undefined));
    await expect(lost).rejects.toThrow(/no answer within 5000 ms/);
    expect(await waiting).toEqual([7]);
  });

  test('a call that is given up is rejected at once, and does not hold the others up', async () => {
    const worker = client();
    const aborter = new AbortController();
    const many = worker.embed(
      Array.from({ length: 1_000 }, () => 'x'),
      'document',
      aborter.signal,
    );
    const next = lengthsOf(worker.embed(['next'], 'document', undefined));
    aborter.abort(new Error('enough'));
    await expect(many).rejects.toThrow('enough');
    expect(await next).toEqual([4]);
    await expect(worker.embed(['x'], 'query', AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
  });

  test('closing rejects what waits, ends the thread and takes no more', async () => {
    const worker = client();
    const waiting = worker.embed(['hang'], 'document', undefined);
    await Promise.all([expect(waiting).rejects.toThrow('was closed'), worker.close()]);
    await expect(worker.embed(['x'], 'query', undefined)).rejects.toThrow('was closed');
    await worker.close();
  });
});

import { parentPort } from 'node:worker_threads';

/** A thread that speaks the protocol of embedding workers, and does what its texts say. */
parentPort?.on('message', ({ texts }: { texts: readonly string[] }) => {
  const [text = ''] = texts;
  if (text === 'exit') process.exit(3);
  if (text === 'throw') throw new Error('the engine broke');
  if (text === 'hang') return;
  if (text === 'refuse') {
    parentPort?.postMessage({ error: { code: 'embedding_failed', message: 'refused', details: [] } });
    return;
  }
  parentPort?.postMessage({
    answers: texts.map((each) => ({ vector: Float32Array.of(each.length), coverage: 'whole' })),
  });
});

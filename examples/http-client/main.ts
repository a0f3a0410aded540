import assert from 'node:assert/strict';
import { createClient, PalimpsestError } from 'palimpsest/client';
import { startServer } from './start-server.ts';

// A server that runs already has an address of its own: http://127.0.0.1:7077, unless it was told another.
const server = await startServer();
try {
  const client = createClient({ baseUrl: server.url });

  const { entry, operation } = await client.remember({
    namespace: 'team.decisions',
    content: 'We chose PostgreSQL because it has pgvector.',
    type: 'decision',
    importance: 0.9,
  });
  console.log(`${operation}: ${entry.content}`);
  assert.equal(operation, 'create');

  const { hits } = await client.recall({ query: 'Why did we choose PostgreSQL?' });
  console.log(`Found: ${hits[0]?.entry.content}`);
  assert.equal(hits[0]?.entry.id, entry.id);

  await client.update(entry.id, { tags: ['database'] });
  await client.forget(entry.id);
  assert.deepEqual((await client.recall({ query: 'Why did we choose PostgreSQL?' })).hits, []);
  await client.restore(entry.id);
  assert.deepEqual((await client.get(entry.id)).tags, ['database']);

  const refused = await client.recall({ query: 'x', topK: 0 }).catch((error: unknown) => error);
  assert(PalimpsestError.isInstance(refused));
  console.log(`Refused: ${refused.message}`);
  assert.equal(refused.code, 'invalid_input');
} finally {
  await server.stop();
}

import type { StoreLocation } from '../../src/store/open-store.ts';
import { openDatabase } from '../stores.ts';
import type { Vectors } from './exact-reference.ts';

/** Every vector of a model in a store that no process holds, by content, as the database has it. */
export async function storedVectors(location: StoreLocation, modelId: string): Promise<Vectors> {
  const database = await openDatabase(location);
  try {
    const rows = await database.transaction((tx) =>
      tx.query<{ content: string; embedding: string }>({
        text: `SELECT m.content, e.embedding::text AS embedding FROM app.memory_embeddings AS e
          JOIN app.memories AS m ON m.tenant_id = e.tenant_id AND m.id = e.memory_id WHERE e.model_id = $1`,
        values: [modelId],
      }),
    );
    return new Map(
      rows.map(({ content, embedding }) => [content, Float32Array.from(JSON.parse(embedding) as number[])]),
    );
  } finally {
    await database.close();
  }
}

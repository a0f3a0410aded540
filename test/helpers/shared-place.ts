import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoreLocation } from '../../src/store/open-store.ts';
import { BACKEND, createDatabase } from './test-database.ts';

/** An empty place of the suite's backend that can be opened again after it was closed. */
export async function sharedPlace(): Promise<{ location: StoreLocation; drop(): Promise<void> }> {
  if (BACKEND === 'pglite') {
    const dataDir = mkdtempSync(join(tmpdir(), 'palimpsest-place-'));
    return { location: { dataDir }, drop: async () => rmSync(dataDir, { recursive: true, force: true }) };
  }
  const database = await createDatabase();
  return { location: { databaseUrl: database.url }, drop: () => database.drop() };
}

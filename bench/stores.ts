import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { StoreLocation } from '../src/store/open-store.ts';
import { openPglite } from '../src/store/pglite.ts';
import { openPostgres } from '../src/store/postgres.ts';
import type { SqlDatabase } from '../src/store/sql-database.ts';

/** An empty place to measure on, and how to get rid of it. */
export interface BenchStore {
  readonly backend: 'pglite' | 'postgres';
  readonly location: StoreLocation;
  dispose(): Promise<void>;
}

/** A new folder for PGlite, as a user has it: on disk, every commit flushed. */
export async function pgliteStore(): Promise<BenchStore> {
  const dataDir = mkdtempSync(join(tmpdir(), 'palimpsest-bench-'));
  return {
    backend: 'pglite',
    location: { dataDir },
    dispose: async () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/** A new database on the server DATABASE_URL names; null where none is given. */
export async function postgresStore(): Promise<BenchStore | null> {
  const server = process.env.DATABASE_URL;
  if (server === undefined) {
    console.error(
      'PostgreSQL is left out: DATABASE_URL is not set (npm run postgres -- run -- npm run bench).',
    );
    return null;
  }
  const name = `palimpsest_bench_${randomUUID().replaceAll('-', '')}`;
  await onServer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    backend: 'postgres',
    location: { databaseUrl: url.href },
    dispose: () => onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** Both, as far as they can be had. */
export async function allStores(): Promise<BenchStore[]> {
  const postgres = await postgresStore();
  return [await pgliteStore(), ...(postgres === null ? [] : [postgres])];
}

/** A store's database as the bench's own user, whom row-level security does not hold up. No other process may hold it. */
export function openDatabase(location: StoreLocation): Promise<SqlDatabase> | SqlDatabase {
  if ('databaseUrl' in location) return openPostgres({ connectionString: location.databaseUrl });
  return openPglite('dataDir' in location ? { dataDir: location.dataDir } : {});
}

async function onServer(connectionString: string, statement: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

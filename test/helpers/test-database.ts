import { randomUUID } from 'node:crypto';
import { Client } from 'pg';

/** Which backend a contract suite runs on: set by the Vitest project. */
export const BACKEND = process.env.PALIMPSEST_TEST_BACKEND === 'postgres' ? 'postgres' : 'pglite';

/** Where tests find a PostgreSQL; `scripts/postgres.ts run` sets it. */
export const DATABASE_URL = process.env.DATABASE_URL;

/** Makes an empty database on the test server, and gives its URL. */
export async function createDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  if (DATABASE_URL === undefined) throw new Error('DATABASE_URL is not set.');
  const name = `palimpsest_test_${randomUUID().replaceAll('-', '')}`;
  await execute(DATABASE_URL, `CREATE DATABASE ${name}`);
  const url = new URL(DATABASE_URL);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => execute(DATABASE_URL, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function execute(connectionString: string, statement: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

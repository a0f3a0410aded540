import { Client } from 'pg';
import { afterEach, expect, it } from 'vitest';
import { lockModels } from '../../src/store/queries/access.ts';
import { describeOrSkip } from '../helpers/skip.ts';
import { BACKEND } from '../helpers/test-database.ts';
import { openTestStore } from '../helpers/test-store.ts';

/** On the embedded store one transaction runs after the other. */
const reason = BACKEND === 'postgres' ? undefined : 'for PostgreSQL only';
const TENANT = 'acme';

const WAITING = `SELECT count(*)::integer AS waiting FROM pg_locks
  WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

describeOrSkip(reason, 'removing unused vectors', () => {
  const cleanUps: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });

  it('waits for a decision about models that is under way, which may begin to use them', async () => {
    const { embeddings, location, close } = await openTestStore();
    cleanUps.push(close);
    if (!('databaseUrl' in location)) throw new Error('The suite of PostgreSQL opened another store.');
    const decision = new Client({ connectionString: location.databaseUrl });
    await decision.connect();
    cleanUps.push(() => decision.end());
    await decision.query('BEGIN');
    const { text, values } = lockModels(TENANT);
    await decision.query(text, [...values]);
    const purge = embeddings.purgeUnused(TENANT, 10);
    await expect.poll(async () => (await decision.query(WAITING)).rows).toEqual([{ waiting: 1 }]);
    await decision.query('COMMIT');
    expect(await purge).toBe(0);
  });
});

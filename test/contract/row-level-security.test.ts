import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namespaceOwner } from '../../src/core/namespace.ts';
import type { Access } from '../../src/core/types.ts';
import { MIGRATIONS_DIRECTORY } from '../../src/store/migrate.ts';
import { enterAccess, REQUEST_ROLES, type RequestRole } from '../../src/store/queries/access.ts';
import { RequestDatabase } from '../../src/store/request-database.ts';
import type { SqlDatabase, SqlRow } from '../../src/store/sql-database.ts';
import { SqlGovernanceStore } from '../../src/store/sql-governance-store.ts';
import { SqlMemoryStore } from '../../src/store/sql-memory-store.ts';
import { at, NOON, operator, prepared, sha256, user } from '../../src/testing/contract-fixtures.ts';
import { TEST_MODEL } from '../../src/testing/index.ts';
import { openTestSqlDatabase, type TestSqlDatabase } from '../helpers/test-sql-database.ts';

/** Row-level security tried directly in SQL, as an injected statement would meet it. */

let opened: TestSqlDatabase;
let database: SqlDatabase;

const TENANT = 'tenant-1';
const MEMORY_ID = '01900000-0000-7000-8000-000000000001';

beforeAll(async () => {
  opened = await openTestSqlDatabase(MIGRATIONS_DIRECTORY);
  database = opened.database;
  await fillEveryTable();
});
afterAll(() => opened.close());

async function fillEveryTable(): Promise<void> {
  const requests = new RequestDatabase(database);
  const store = new SqlMemoryStore(requests, () => NOON);
  const governance = new SqlGovernanceStore(requests, () => NOON);
  const alice = user(TENANT, 'alice');
  const admin = user(TENANT, 'root', { isAdmin: true });
  await store.registerModel(TENANT, TEST_MODEL);
  const [written] = await store.write(
    alice,
    [prepared({ namespace: 'vector.user.alice.n', content: 'secret of alice' })],
    at(NOON),
  );
  await store.write(
    operator(TENANT),
    [prepared({ namespace: 'team.a', content: 'secret of the team' })],
    at(NOON),
  );
  await store.feedback(
    alice,
    { memoryId: written?.entry.id ?? '', signal: 'useful', traceId: MEMORY_ID },
    at(NOON),
  );
  await store.putRule(admin, { pattern: 'team.*', bonus: 0.1 }, at(NOON));
  await governance.setAllowAdminMemory(alice, false, NOON);
  await governance.createKey(admin, {
    id: MEMORY_ID,
    tenantId: TENANT,
    userId: 'alice',
    name: 'k',
    prefix: 'p',
    secretHash: sha256('secret'),
    scopes: ['read'],
    createdAt: new Date(NOON),
    createdBy: 'root',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  });
  await governance.putPolicy(admin, { kind: 'agent', id: 'a' }, EMPTY_POLICY, NOON);
  await governance.putProfile(
    admin,
    { kind: 'boosted', name: 'p', recencyDecay: 0, minScore: 0, relativeCutoff: 0, topK: 1 },
    NOON,
  );
  await governance.appendTraces(
    alice,
    [{ id: MEMORY_ID, userId: 'alice', createdAt: new Date(NOON), query: 'q', trace: {} }],
    [],
  );
  await governance.claimIdempotencyKey(alice, 'k', 'h', NOON);
  await fillEmbeddingTables(written?.entry.id ?? '');
}

/** What a change of model leaves behind, written as the owner of the database. */
async function fillEmbeddingTables(memoryId: string): Promise<void> {
  const model = TEST_MODEL.modelId;
  await sql(
    `INSERT INTO app.embedding_state (tenant_id, role, scope, model_id, since) VALUES ($1, 'active', '*', $2, now())
      ON CONFLICT DO NOTHING`,
    [TENANT, model],
  );
  await sql(
    `INSERT INTO app.embedding_jobs (tenant_id, job_id, kind, scope, model_id, status, switches_itself, purges_old,
        created_by, created_at)
      VALUES ($1, gen_random_uuid(), 'fill', '*', $2, 'paused', false, false, 'root', now())`,
    [TENANT, model],
  );
  await sql(
    `INSERT INTO app.embedding_gaps (tenant_id, model_id, memory_id, namespace, reason)
      VALUES ($1, $2, $3::uuid, 'vector.user.alice.n', 'waiting') ON CONFLICT DO NOTHING`,
    [TENANT, model, memoryId],
  );
}

const EMPTY_POLICY = {
  readNamespaces: [],
  writeNamespace: null,
  allowedWriteNamespaces: [],
  allowWrite: false,
  allowToolWrite: false,
  allowToolDelete: false,
  profile: null,
  topK: null,
  minScore: null,
  relativeCutoff: null,
  tokenBudget: null,
};

function sql<Row extends SqlRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
  return database.transaction((tx) => tx.query<Row>({ text, values }));
}

/** Runs one statement as a request of somebody would. */
function asking<Row extends SqlRow>(
  access: Access | null,
  text: string,
  role: RequestRole = 'palimpsest_app',
): Promise<Row[]> {
  return database.transaction(async (tx) => {
    if (access === null) await tx.query({ text: `SELECT set_config('role', $1, true)`, values: [role] });
    else await tx.query(enterAccess(access, { role, mayWrite: true }));
    return tx.query<Row>({ text, values: [] });
  });
}

async function tables(): Promise<string[]> {
  const rows = await sql<{ relname: string }>(
    `SELECT relname::text FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1`,
  );
  return rows.map(({ relname }) => relname).filter((name) => name !== 'schema_migrations');
}

/** Tables a request role may read at all. */
async function readableTables(role: RequestRole): Promise<string[]> {
  const rows = await sql<{ relname: string }>(
    `SELECT relname::text FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p')
      AND relname <> 'schema_migrations' AND has_any_column_privilege($1, oid, 'SELECT') ORDER BY 1`,
    [role],
  );
  return rows.map(({ relname }) => relname);
}

/** Every change a role has the right to, by the catalogs, of as many rows as it gets at: no condition, no column read. */
async function changesOf(role: RequestRole): Promise<string[]> {
  const rows = await sql<{ change: string }>(
    `SELECT format('UPDATE app.%I SET %I = NULL RETURNING 1', c.relname, a.attname) AS change
      FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND a.attgenerated = ''
      WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
        AND has_column_privilege($1, c.oid, a.attnum, 'UPDATE')
      UNION ALL
      SELECT format('DELETE FROM app.%I RETURNING 1', c.relname) FROM pg_class AS c
      WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p') AND has_table_privilege($1, c.oid, 'DELETE')
      ORDER BY 1`,
    [role],
  );
  return rows.map(({ change }) => change);
}

async function countOf(access: Access | null, table: string): Promise<number> {
  const [row] = await asking<{ count: number }>(access, `SELECT count(*) AS count FROM app.${table}`);
  return row?.count ?? -1;
}

describe('row-level security', () => {
  it('is forced on every table, whoever owns it', async () => {
    const open = await sql<{ relname: string }>(
      `SELECT relname::text FROM pg_class WHERE relnamespace = 'app'::regnamespace AND relkind IN ('r', 'p')
        AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY 1`,
    );
    expect(open.map(({ relname }) => relname)).toEqual(['schema_migrations']);
  });

  it('is under no role that can bypass it, and no role that another could become', async () => {
    const roles = await sql<{ rolname: string }>(
      `SELECT rolname::text FROM pg_roles WHERE rolname LIKE 'palimpsest\\_%'
        AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcanlogin)`,
    );
    expect(roles).toEqual([]);
    const members = await sql(
      `SELECT 1 FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member WHERE r.rolname LIKE 'palimpsest\\_%'`,
    );
    expect(members).toEqual([]);
  });

  it('shows every table to nobody without a tenant, and to another tenant’s operator', async () => {
    for (const table of await readableTables('palimpsest_app')) {
      expect([table, await countOf(null, table)]).toEqual([table, 0]);
      expect([table, await countOf(operator('tenant-2'), table)]).toEqual([table, 0]);
    }
  });

  it('has something to hide in every table it is tried on', async () => {
    for (const table of await tables()) {
      const [row] = await sql<{ count: number }>(`SELECT count(*) AS count FROM app.${table}`);
      expect([table, (row?.count ?? 0) > 0]).toEqual([table, true]);
    }
  });

  it('lets no statement change a row of somebody else', async () => {
    const bob = user(TENANT, 'bob');
    const stranger = operator('tenant-2');
    for (const access of [bob, stranger]) {
      expect(await asking(access, 'UPDATE app.memories SET importance = 0 RETURNING id')).toEqual([]);
      expect(await asking(access, 'DELETE FROM app.memories RETURNING id')).toEqual([]);
      expect(await asking(access, 'UPDATE app.namespaces SET version = 0 RETURNING path')).toEqual([]);
      expect(await asking(access, 'DELETE FROM app.memory_embeddings RETURNING memory_id')).toEqual([]);
      expect(
        await asking(access, 'UPDATE app.vector_namespace_rules SET bonus = 1 RETURNING pattern'),
      ).toEqual([]);
      expect(await asking(access, 'DELETE FROM app.memory_policies RETURNING subject_id')).toEqual([]);
      expect(await asking(access, 'UPDATE app.api_keys SET revoked_at = now() RETURNING key_id')).toEqual([]);
      expect(
        await asking(access, 'UPDATE app.users SET allow_admin_memory = true RETURNING user_id'),
      ).toEqual([]);
    }
  });

  it.each(REQUEST_ROLES)(
    'lets nobody change another tenant’s rows as %s, whatever a statement leaves out',
    async (role) => {
      const changes = await changesOf(role);
      // The one role without anything to change is the one that writes refusals down.
      expect(changes.length > 0).toBe(role !== 'palimpsest_refusals');
      for (const change of changes) {
        expect([change, await asking(operator('tenant-2'), change, role)]).toEqual([change, []]);
      }
    },
  );

  it.each(['palimpsest_app', 'palimpsest_feedback'] as const)(
    'lets nobody change another user’s rows as %s, whatever a statement leaves out',
    async (role) => {
      for (const change of await changesOf(role)) {
        expect([change, await asking(user(TENANT, 'bob'), change, role)]).toEqual([change, []]);
      }
    },
  );

  it('lets nobody change what a key is good for, nor see its hash', async () => {
    for (const access of [user(TENANT, 'alice'), user(TENANT, 'root', { isAdmin: true })]) {
      for (const statement of [
        `UPDATE app.api_keys SET scopes = '{admin}'`,
        `UPDATE app.api_keys SET user_id = 'root'`,
        'UPDATE app.api_keys SET expires_at = NULL',
        'SELECT secret_hash FROM app.api_keys',
      ]) {
        await expect(asking(access, statement)).rejects.toMatchObject({ code: 'forbidden' });
      }
    }
  });

  it('keeps what an entry is, whose and since when, and its counters, from its owner', async () => {
    for (const column of ['id', 'namespace', 'created_by', 'created_at', 'access_count']) {
      const statement = `UPDATE app.memories SET ${column} = NULL`;
      await expect(asking(user(TENANT, 'alice'), statement)).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('takes feedback in one’s own name only', async () => {
    const statement = `INSERT INTO app.memory_feedback (tenant_id, trace_id, memory_id, signal, user_id, created_at)
      SELECT tenant_id, gen_random_uuid(), id, 'useful', 'alice', now() FROM app.memories WHERE namespace = 'team.a'`;
    for (const access of [operator(TENANT), user(TENANT, 'root', { isAdmin: true })]) {
      const forged = asking({ ...access, readGrants: ['team.*'] }, statement, 'palimpsest_feedback');
      await expect(forged).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('refuses a row that is made for somebody else', async () => {
    const bob = user(TENANT, 'bob');
    const namespace = (tenant: string, path: string) =>
      `INSERT INTO app.namespaces (tenant_id, path, version, created_at, updated_at)
        VALUES ('${tenant}', '${path}', 1, now(), now())`;
    for (const statement of [
      namespace('tenant-1', 'vector.user.alice.x'),
      namespace('tenant-1', 'team.b'),
      namespace('tenant-2', 'vector.user.bob.x'),
      `INSERT INTO app.memory_audit (tenant_id, audit_id, occurred_at, action, actor_id, detail)
        VALUES ('tenant-1', gen_random_uuid(), now(), 'read', 'alice', '{}')`,
      `INSERT INTO app.memory_traces (tenant_id, trace_id, user_id, created_at, trace)
        VALUES ('tenant-1', gen_random_uuid(), 'alice', now(), '{}')`,
      `INSERT INTO app.users (tenant_id, user_id, allow_admin_memory, created_at)
        VALUES ('tenant-1', 'carol', true, now())`,
    ]) {
      await expect(asking(bob, statement)).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('lets an administrator give no consent in a user’s name', async () => {
    const admin = user(TENANT, 'root', { isAdmin: true });
    expect(await asking(admin, 'UPDATE app.users SET allow_admin_memory = true RETURNING user_id')).toEqual(
      [],
    );
  });

  it('keeps the audit from everybody’s changes', async () => {
    for (const statement of ['UPDATE app.memory_audit SET detail = NULL', 'DELETE FROM app.memory_audit']) {
      await expect(asking(operator(TENANT), statement)).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('lets feedback move counters and nothing else', async () => {
    const alice = user(TENANT, 'alice');
    const asFeedback = (statement: string) => asking(alice, statement, 'palimpsest_feedback');
    expect(
      await asFeedback('UPDATE app.memories SET access_count = access_count + 0 RETURNING id'),
    ).toHaveLength(1);
    for (const statement of [
      `UPDATE app.memories SET content = 'forged'`,
      'UPDATE app.memories SET importance = 1',
      'DELETE FROM app.memories',
      `UPDATE app.namespaces SET path = 'x'`,
    ]) {
      await expect(asFeedback(statement)).rejects.toMatchObject({ code: 'forbidden' });
    }
  });

  it('lets the look-up of keys and the upkeep read no content', async () => {
    expect(await readableTables('palimpsest_auth')).toEqual(['api_keys']);
    for (const role of ['palimpsest_auth', 'palimpsest_upkeep'] as const) {
      for (const table of ['memories', 'memory_embeddings', 'namespaces', 'users']) {
        await expect(asking(operator(TENANT), `SELECT * FROM app.${table}`, role)).rejects.toMatchObject({
          code: 'forbidden',
        });
      }
    }
    await expect(
      asking(operator(TENANT), 'SELECT trace FROM app.memory_traces', 'palimpsest_upkeep'),
    ).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('leaves nothing of a request on the connection', async () => {
    await asking(operator(TENANT), 'SELECT 1');
    await asking(operator(TENANT), 'SELECT 1/0').catch(() => undefined);
    const [left] = await sql<{ tenant: string | null; role: string }>(
      `SELECT nullif(current_setting('palimpsest.tenant_id', true), '') AS tenant, current_setting('role') AS role`,
    );
    expect(left).toEqual({ tenant: null, role: 'none' });
  });

  it('reads the owner off a path as the core does', async () => {
    const paths = [
      'vector.user.u1',
      'vector.user.u1.a.b',
      'vector.agent.u1.howto',
      'vector.user',
      'vector.agent',
      'vector.global',
      'vector.global.x',
      'vector.globals.x',
      'vector.users.u1',
      'team.user.u1',
      'user.u1',
      'vector',
      'vector.user.ä~1@x.y',
    ];
    for (const path of paths) {
      const [row] = await sql<{ owner: string | null; is_global: boolean }>(
        'SELECT app.namespace_owner($1) AS owner, app.namespace_is_global($1) AS is_global',
        [path],
      );
      const owner = namespaceOwner(path);
      expect([path, row?.owner ?? null, row?.is_global]).toEqual([
        path,
        owner.kind === 'user' ? owner.userId : null,
        owner.kind === 'global',
      ]);
    }
  });
});

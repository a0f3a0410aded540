import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openPostgres, type PostgresOptions, runAlone } from '../../src/store/postgres.ts';
import type { SqlDatabase, SqlTransaction } from '../../src/store/sql-database.ts';
import { describeOrSkip } from '../helpers/skip.ts';
import { BACKEND, createDatabase, DATABASE_URL } from '../helpers/test-database.ts';
import { runScript, runStatement } from '../helpers/test-sql-database.ts';

/** What only a server with many connections can show. */

const reason =
  BACKEND !== 'postgres'
    ? 'for PostgreSQL only'
    : DATABASE_URL === undefined
      ? 'DATABASE_URL is not set'
      : undefined;

describeOrSkip(reason, 'the PostgreSQL driver', () => {
  let url: string;
  let drop: () => Promise<void>;
  const opened: SqlDatabase[] = [];

  beforeAll(async () => {
    ({ url, drop } = await createDatabase());
  });
  afterAll(() => drop());
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
  });
  beforeEach(() => {
    const database = open();
    return runScript(
      database,
      `DROP TABLE IF EXISTS places; CREATE TABLE places (name text PRIMARY KEY, value integer NOT NULL);
       INSERT INTO places VALUES ('a', 0), ('b', 0)`,
    );
  });

  function open(options: Partial<PostgresOptions> = {}): SqlDatabase {
    const database = openPostgres({ connectionString: url, ...options });
    opened.push(database);
    return database;
  }

  const add = (tx: SqlTransaction, name: string) =>
    tx.query({ text: 'UPDATE places SET value = value + 1 WHERE name = $1', values: [name] });
  const values = async () =>
    Object.fromEntries(
      (await runStatement(open(), 'SELECT name, value FROM places')).map(({ name, value }) => [name, value]),
    );
  const processIdOf = (tx: SqlTransaction) =>
    tx
      .query<{ pid: number }>({ text: 'SELECT pg_backend_pid() AS pid', values: [] })
      .then(([row]) => row?.pid ?? 0);
  const kill = (pid: number) => runStatement(open(), 'SELECT pg_terminate_backend($1, 5000)', [pid]);

  it('gives a statement up that is stopped while the connection is made', async () => {
    const stop = new AbortController();
    const outcome = runAlone(url, 'DROP TABLE places', stop.signal).catch((error: unknown) => error);
    stop.abort(new Error('stopped'));
    expect(await outcome).toEqual(new Error('stopped'));
    expect(await values()).toEqual({ a: 0, b: 0 });
  });

  it('runs one of two transactions again that lock the same rows in opposite order', async () => {
    const database = open();
    let runs = 0;
    let arrived = 0;
    const bothLocked = makeSignal();
    const crossing = (first: string, second: string) =>
      database.transaction(async (tx) => {
        runs += 1;
        await add(tx, first);
        arrived += 1;
        if (arrived === 2) bothLocked.send();
        await bothLocked.sent;
        await add(tx, second);
      });
    await Promise.all([crossing('a', 'b'), crossing('b', 'a')]);
    // Each adds 1 to both; the deadlock's victim was rolled back once, so it ran twice.
    expect(await values()).toEqual({ a: 2, b: 2 });
    expect(runs).toBe(3);
  });

  it('gives up a transaction that keeps failing to serialize, after 5 runs', async () => {
    let runs = 0;
    const attempt = open().transaction(async (tx) => {
      runs += 1;
      await tx.exec("DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$");
    });
    await expect(attempt).rejects.toMatchObject({ code: 'store_unavailable', cause: { code: '40001' } });
    expect(runs).toBe(5);
  });

  it('does not run a transaction again whose statement is simply wrong', async () => {
    let runs = 0;
    const attempt = open().transaction(async (tx) => {
      runs += 1;
      await tx.query({ text: 'SELECT nonsense', values: [] });
    });
    await expect(attempt).rejects.toMatchObject({ code: '42703' });
    expect(runs).toBe(1);
  });

  it('survives that a connection in use is killed, and works on with another one', async () => {
    const database = open({ maxConnections: 1 });
    const attempt = database.transaction(async (tx) => {
      await add(tx, 'a');
      await kill(await processIdOf(tx));
      await add(tx, 'b');
    });
    await expect(attempt).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await values()).toEqual({ a: 0, b: 0 });
    expect(await runStatement(database, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('tells of an idle connection that was killed, and the next transaction works', async () => {
    const told: unknown[] = [];
    const database = open({ maxConnections: 1, onBackgroundError: (error) => told.push(error) });
    await kill(await database.transaction(processIdOf));
    await expect.poll(() => told.length).toBe(1);
    expect(await runStatement(database, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('leaves no role on a connection whose transaction threw', async () => {
    const database = open({ maxConnections: 1 });
    await runScript(database, 'DROP ROLE IF EXISTS test_alice; CREATE ROLE test_alice');
    const attempt = database.transaction(async (tx) => {
      await tx.query({
        text: "SELECT set_config('role', 'test_alice', true), set_config('test.asker', 'alice', true)",
        values: [],
      });
      throw new Error('the request failed');
    });
    await expect(attempt).rejects.toThrow('the request failed');
    const [next] = await runStatement(
      database,
      "SELECT current_user::text AS role, current_setting('test.asker', true) AS asker",
    );
    expect(next?.role).not.toBe('test_alice');
    expect(next?.asker ?? '').toBe('');
    await runScript(database, 'DROP ROLE test_alice');
  });

  it('keeps no statement and no setting in the session', async () => {
    const database = open({ maxConnections: 1, statementTimeoutMs: 1234 });
    await runStatement(database, 'SELECT $1::text', ['x']);
    expect(await runStatement(database, 'SELECT count(*) AS prepared FROM pg_prepared_statements')).toEqual([
      { prepared: 0 },
    ]);
    const inside = await runStatement(database, "SELECT current_setting('statement_timeout') AS timeout");
    expect(inside).toEqual([{ timeout: '1234ms' }]);
    const outside = await runStatement(
      database,
      "SELECT reset_val FROM pg_settings WHERE name = 'statement_timeout'",
    );
    expect(outside).toEqual([{ reset_val: '0' }]);
  });

  it('stops a statement after statementTimeoutMs, and the connection is good for the next', async () => {
    const database = open({ maxConnections: 1, statementTimeoutMs: 50 });
    await expect(runStatement(database, 'SELECT pg_sleep(10)')).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('statement timeout'),
    });
    expect(await runStatement(database, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('has no statement timeout with 0', async () => {
    expect(
      await runStatement(
        open({ statementTimeoutMs: 0 }),
        "SELECT current_setting('statement_timeout') AS timeout",
      ),
    ).toEqual([{ timeout: '0' }]);
  });

  it('frees the locks of a transaction that its process stopped in the middle', async () => {
    const database = open({ idleTransactionTimeoutMs: 50 });
    const attempt = database.transaction(async (tx) => {
      await add(tx, 'a');
      await sleep(500);
      await add(tx, 'a');
    });
    await expect(attempt).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await values()).toEqual({ a: 0, b: 0 });
  });

  it('rejects a transaction that gets no connection in time', async () => {
    const database = open({ maxConnections: 1, connectTimeoutMs: 100 });
    const finish = makeSignal();
    const first = database.transaction(() => finish.sent);
    await expect(runStatement(database, 'SELECT 1')).rejects.toMatchObject({ code: 'store_unavailable' });
    finish.send();
    await first;
    expect(await runStatement(database, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('sees one snapshot throughout a read-only transaction', async () => {
    const writer = open();
    const seen = await open().transaction(
      async (tx) => {
        const read = () => tx.query({ text: "SELECT value FROM places WHERE name = 'a'", values: [] });
        const before = await read();
        await writer.transaction((other) => add(other, 'a'));
        return [before, await read()];
      },
      { readOnlySnapshot: true },
    );
    expect(seen).toEqual([[{ value: 0 }], [{ value: 0 }]]);
    expect(await values()).toEqual({ a: 1, b: 0 });
  });

  it('reads values right from a server that shows them in another form', async () => {
    const name = new URL(url).pathname.slice(1);
    const settings = [
      "DateStyle = 'SQL, DMY'",
      "TimeZone = 'America/St_Johns'",
      "bytea_output = 'escape'",
      'extra_float_digits = -15',
      "default_transaction_isolation = 'serializable'",
    ];
    const administrator = open();
    for (const setting of settings)
      await runStatement(administrator, `ALTER DATABASE ${name} SET ${setting}`);
    try {
      const [row] = await runStatement(
        open(),
        `SELECT '2024-07-01 00:00:00Z'::timestamptz AS time, '\\xff00'::bytea AS bytes, 0.1::float8 + 0.2::float8 AS sum,
          current_setting('transaction_isolation') AS isolation`,
      );
      expect(row).toEqual({
        time: new Date('2024-07-01T00:00:00.000Z'),
        bytes: Uint8Array.of(255, 0),
        sum: 0.30000000000000004,
        isolation: 'read committed',
      });
    } finally {
      await runStatement(administrator, `ALTER DATABASE ${name} RESET ALL`);
    }
  });

  it('rejects while the server is away, and works again when it is back', async () => {
    const gate = await openGate(url);
    const database = openPostgres({ connectionString: gate.url, connectTimeoutMs: 1_000 });
    try {
      expect(await runStatement(database, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await gate.close();
      for (let i = 0; i < 3; i += 1) {
        await expect(runStatement(database, 'SELECT 1')).rejects.toMatchObject({ code: 'store_unavailable' });
      }
      await gate.open();
      expect(await runStatement(database, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      await database.close();
      await gate.close();
    }
  });

  it.each<[what: string, change: (target: URL) => void, sqlState: string]>([
    [
      'a database',
      (target) => {
        target.pathname = '/no_such_database';
      },
      '3D000',
    ],
    [
      'a user',
      (target) => {
        target.username = 'no_such_user';
      },
      '28000',
    ],
  ])('rejects with store_unavailable when the server knows %s not', async (_what, change, sqlState) => {
    const target = new URL(url);
    change(target);
    await expect(runStatement(open({ connectionString: target.href }), 'SELECT 1')).rejects.toMatchObject({
      code: 'store_unavailable',
      cause: { code: sqlState },
    });
  });

  it('shows its name to the server', async () => {
    const name = (database: SqlDatabase) =>
      runStatement(database, "SELECT current_setting('application_name') AS name");
    expect(await name(open())).toEqual([{ name: 'palimpsest' }]);
    expect(await name(open({ applicationName: 'importer' }))).toEqual([{ name: 'importer' }]);
  });

  it('is closed when its connections are gone', async () => {
    const database = openPostgres({ connectionString: url, applicationName: 'closing' });
    await runStatement(database, 'SELECT 1');
    await database.close();
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      "SELECT count(*)::integer AS open FROM pg_stat_activity WHERE application_name = 'closing'",
    );
    await client.end();
    expect(rows).toEqual([{ open: 0 }]);
  });
});

interface Signal {
  readonly sent: Promise<void>;
  send(): void;
}

function makeSignal(): Signal {
  let send = () => {};
  const sent = new Promise<void>((resolve) => {
    send = resolve;
  });
  return { sent, send };
}

/** Stands before a server, and can cut it off: all connections break, and new ones are refused. */
async function openGate(
  target: string,
): Promise<{ url: string; open(): Promise<void>; close(): Promise<void> }> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let gatePort = 0;
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const open = async () => {
    const listening = createServer((inner) => {
      const outer = connectSocket(Number(port), hostname);
      track(inner);
      track(outer);
      inner.pipe(outer).pipe(inner);
      inner.on('close', () => outer.destroy());
      outer.on('close', () => inner.destroy());
    });
    server = listening;
    await new Promise<void>((resolve) => listening.listen(gatePort, '127.0.0.1', resolve));
    const address = listening.address();
    if (address !== null && typeof address === 'object') gatePort = address.port;
  };
  const close = async () => {
    const listening = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    if (listening !== undefined) await new Promise<void>((resolve) => listening.close(() => resolve()));
  };
  await open();
  const gate = new URL(target);
  gate.host = `127.0.0.1:${gatePort}`;
  return { url: gate.href, open, close };
}

import type * as NodeFs from 'node:fs';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeTemplate } from './pglite/template.ts';
import { type EmbeddedDatabase, openPglite, type PgliteOptions } from './pglite.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Every flush of a file goes through this, so that a test can count them or let the disk fail. */
const disk = vi.hoisted(() => ({ flushes: 0, fails: false }));
vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof NodeFs>();
  const fdatasyncSync = (descriptor: number) => {
    disk.flushes += 1;
    if (disk.fails) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
    original.fdatasyncSync(descriptor);
  };
  return { ...original, fdatasyncSync };
});

// Each opens databases, and one writes 130 MB: seconds, more on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

let shared: string;
let template: string;
let migrationsDirectory: string;
let dataDir: string;
const opened: EmbeddedDatabase[] = [];

beforeAll(async () => {
  shared = mkdtempSync(join(tmpdir(), 'palimpsest-pglite-'));
  migrationsDirectory = join(shared, 'migrations');
  mkdirSync(migrationsDirectory);
  writeFileSync(
    join(migrationsDirectory, '000001_first.sql'),
    'CREATE TABLE app.notes (id integer PRIMARY KEY, body text NOT NULL);',
  );
  template = join(shared, 'template.tar.gz');
  writeFileSync(template, gzipSync(await makeTemplate(migrationsDirectory)));
});
afterAll(() => rmSync(shared, { recursive: true, force: true }));
beforeEach(() => {
  dataDir = join(shared, 'data');
  Object.assign(disk, { flushes: 0, fails: false });
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function open(options: PgliteOptions = {}): Promise<EmbeddedDatabase> {
  const database = await openPglite({ dataDir, migrationsDirectory, template, ...options });
  opened.push(database);
  return database;
}

const query = (database: SqlDatabase, text: string, values: readonly unknown[] = []) =>
  database.transaction((tx) => tx.query({ text, values }));
const insert = (database: SqlDatabase, id: number) =>
  query(database, 'INSERT INTO app.notes VALUES ($1, $2)', [id, `note ${id}`]);
const ids = async (database: SqlDatabase) =>
  (await query(database, 'SELECT id FROM app.notes ORDER BY id')).map((row) => row.id);

describe('a data directory', () => {
  it('is made with its parents, for its user alone, and keeps what was written', async () => {
    dataDir = join(shared, 'data', 'below');
    const database = await open();
    await insert(database, 1);
    await database.close();
    expect(await ids(await open())).toEqual([1]);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    dataDir = join(shared, 'data');
  });

  it('says so where no folder can be made, even below one that is there', async () => {
    writeFileSync(join(shared, 'file'), '');
    // Below /proc, where there is one, the system says of a new folder that the one above it is not there.
    for (const path of [join(shared, 'file', 'below'), '/proc/nothing', '/proc/nothing/below']) {
      await expect(open({ dataDir: path })).rejects.toMatchObject({
        code: 'invalid_config',
        message: expect.stringContaining(`The data directory ${path} can't be made: `),
      });
    }
  });

  it('holds the same schema with and without a template', async () => {
    const names = 'SELECT name, checksum FROM app.schema_migrations';
    const withTemplate = await query(await open({ dataDir: undefined }), names);
    const without = await query(await open({ dataDir: undefined, template: null }), names);
    expect(withTemplate).toEqual(without);
    expect(withTemplate).toHaveLength(1);
  });

  it('is migrated further when the product has moved on since it was made', async () => {
    await insert(await open(), 1);
    await opened.pop()?.close();
    const later = join(shared, 'later');
    mkdirSync(later);
    writeFileSync(
      join(later, '000001_first.sql'),
      readFileSync(join(migrationsDirectory, '000001_first.sql')),
    );
    writeFileSync(join(later, '000002_second.sql'), 'ALTER TABLE app.notes ADD COLUMN extra integer;');
    expect(
      await query(await open({ migrationsDirectory: later }), 'SELECT id, extra FROM app.notes'),
    ).toEqual([{ id: 1, extra: null }]);
  });

  it('of a later version is refused, and free again afterwards', async () => {
    await query(
      await open(),
      "INSERT INTO app.schema_migrations (version, name, checksum) VALUES (2, 'x', 'y')",
    );
    await opened.pop()?.close();
    for (let i = 0; i < 2; i += 1) await expect(open()).rejects.toMatchObject({ code: 'store_newer' });
  });

  it('is made anew when making it was cut short', async () => {
    mkdirSync(join(dataDir, 'postgres.new'), { recursive: true });
    writeFileSync(join(dataDir, 'postgres.new', 'PG_VERSION'), '18\n');
    await insert(await open(), 1);
    expect(readdirSync(dataDir)).not.toContain('postgres.new');
  });

  it('is refused, and not touched, when somebody else keeps files where ours belong', async () => {
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    writeFileSync(join(dataDir, 'postgres', 'thesis.txt'), 'the only copy');
    await expect(open()).rejects.toMatchObject({ code: 'invalid_config' });
    expect(readFileSync(join(dataDir, 'postgres', 'thesis.txt'), 'utf8')).toBe('the only copy');
  });

  it('may have an empty folder in our place, such as a mount point', async () => {
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    await insert(await open(), 1);
  });

  it('that can not be made is refused with its path', async () => {
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'file'), '');
    const below = join(dataDir, 'file', 'data');
    await expect(open({ dataDir: below })).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining(below),
    });
  });

  it('whose database is damaged is refused with the last lines of its log, and stays as it is', async () => {
    await open();
    await opened.pop()?.close();
    rmSync(join(dataDir, 'postgres', 'global', 'pg_control'));
    await expect(open()).rejects.toMatchObject({
      code: 'store_unavailable',
      details: [{ got: expect.stringContaining('pg_control') }],
    });
    expect(existsSync(join(dataDir, 'postgres', 'PG_VERSION'))).toBe(true);
  });

  it('is given to one database at a time', async () => {
    const database = await open();
    database.setUrl('http://127.0.0.1:7077');
    await expect(open()).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringMatching(new RegExp(`process ${process.pid} .*http://127\\.0\\.0\\.1:7077`)),
    });
    await insert(database, 1);
    await database.close();
    expect(await ids(await open())).toEqual([1]);
  });
});

describe('a commit', () => {
  it('is flushed to the disk before it is acknowledged', async () => {
    const database = await open();
    disk.flushes = 0;
    await insert(database, 1);
    expect(disk.flushes).toBe(1);
    await query(database, 'SELECT 1');
    expect(disk.flushes).toBe(1);
  });

  it('is not, with flushesToDisk false', async () => {
    const database = await open({ flushesToDisk: false });
    disk.flushes = 0;
    await insert(database, 1);
    expect(disk.flushes).toBe(0);
  });
});

describe('an engine that breaks down', () => {
  it('rejects the write it could not flush, and starts again with everything acknowledged', async () => {
    const database = await open();
    await insert(database, 1);
    disk.fails = true;
    await expect(insert(database, 2)).rejects.toMatchObject({
      code: 'store_unavailable',
      details: [{ got: expect.stringContaining('could not fsync') }],
    });
    await expect(insert(database, 3)).rejects.toMatchObject({ code: 'store_unavailable' });
    disk.fails = false;
    await insert(database, 4);
    // Whether 2 was kept is for the caller to find out, as after any lost connection. 3 never began.
    expect((await ids(database)).filter((id) => id !== 2)).toEqual([1, 4]);
  });

  it('tells whoever asks next nothing of what others stored', async () => {
    const database = await open();
    const stored = "'x\nFATAL:  a secret'";
    await expect(query(database, `INSERT INTO app.notes VALUES (${stored}, 'b')`)).rejects.toThrow();
    disk.fails = true;
    const failure: unknown = await insert(database, 1).catch((error: unknown) => error);
    disk.fails = false;
    expect(failure).toMatchObject({ details: [{ got: expect.stringContaining('could not fsync') }] });
    expect(JSON.stringify(failure)).not.toContain('secret');
  });

  // Deeper than the stack of WebAssembly: PGlite alone answers with no rows, then never again.
  const OVERFLOW = "SELECT (repeat('[', 20000) || repeat(']', 20000))::jsonb";

  it('is an error and not an empty answer', async () => {
    const database = await open();
    await insert(database, 1);
    const attempt = database.transaction(async (tx) => {
      await tx.query({ text: "INSERT INTO app.notes VALUES (2, 'never')", values: [] });
      await tx.query({ text: OVERFLOW, values: [] });
    });
    await expect(attempt).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await ids(database)).toEqual([1]);
  });

  it('is noticed in the middle of a script', async () => {
    const database = await open();
    await expect(
      database.transaction((tx) => tx.exec(`SELECT 1; ${OVERFLOW}; SELECT 2`)),
    ).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(await ids(database)).toEqual([]);
  });

  it('does not disturb those who wait behind it', async () => {
    const database = await open();
    const results = await Promise.allSettled([query(database, OVERFLOW), insert(database, 1), ids(database)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  });

  it('takes a database in memory with it: it never comes back empty', async () => {
    const database = await open({ dataDir: undefined });
    await insert(database, 1);
    await expect(query(database, OVERFLOW)).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(ids(database)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('lost'),
    });
  });
});

describe('upkeep', () => {
  it('folds the log into the tables, and vacuums and analyses what has changed a lot', async () => {
    const problems: unknown[] = [];
    const database = await open({ flushesToDisk: false, onBackgroundError: (error) => problems.push(error) });
    const text = 'x'.repeat(1000);
    await query(database, 'INSERT INTO app.notes SELECT i, $1 FROM generate_series(1, 10000) AS i', [text]);
    // 12 updates of 10,000 rows of 1 KB are well over 100 MB of log.
    for (let i = 0; i < 12; i += 1) await query(database, 'UPDATE app.notes SET body = $1 || $2', [text, i]);
    const [upkeep] = await query(
      database,
      `SELECT vacuum_count > 0 AS vacuumed, analyze_count > 0 AS analysed,
        (SELECT sum(size) FROM pg_ls_waldir())::bigint AS log_bytes,
        pg_table_size('app.notes') AS table_bytes
       FROM pg_stat_user_tables WHERE relname = 'notes'`,
    );
    expect(upkeep).toMatchObject({ vacuumed: true, analysed: true });
    // Once 64 MB are full, 32 MB of segments are kept for reuse; without upkeep this is over 100 MB.
    expect(upkeep?.log_bytes).toBeLessThan(100 * 1024 * 1024);
    // 12 versions of 11 MB without vacuum, two or three with it.
    expect(upkeep?.table_bytes).toBeLessThan(60 * 1024 * 1024);
    expect(problems).toEqual([]);
  });
});

describe('a queue of transactions', () => {
  it('lets the rest of the process run after each of them', async () => {
    const database = await open();
    let turns = 0;
    const turn = () => {
      turns += 1;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    await Promise.all(Array.from({ length: 30 }, () => ids(database)));
    clearImmediate(next);
    expect(turns).toBeGreaterThanOrEqual(29);
  });
});

describe('closing', () => {
  it('waits for what was started, refuses what comes later, and may be repeated', async () => {
    const database = await open();
    const write = insert(database, 1);
    const closed = database.close();
    await expect(insert(database, 2)).rejects.toMatchObject({ code: 'store_unavailable' });
    await Promise.all([write, closed, database.close()]);
    expect(await ids(await open())).toEqual([1]);
  });
});

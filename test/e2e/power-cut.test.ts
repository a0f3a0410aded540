import type * as NodeFs from 'node:fs';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type EmbeddedDatabase, openPglite } from '../../src/store/pglite.ts';
import { FlushedImage } from '../helpers/flushed-image.ts';
import { describeOrSkip } from '../helpers/skip.ts';

/** Told of each flush after it was made. */
const flushes = vi.hoisted(() => ({ listener: (_descriptor: number): void => {} }));
vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof NodeFs>();
  const telling = (flush: (descriptor: number) => void) => (descriptor: number) => {
    flush(descriptor);
    flushes.listener(descriptor);
  };
  return {
    ...original,
    fdatasyncSync: telling(original.fdatasyncSync),
    fsyncSync: telling(original.fsyncSync),
  };
});

const ROWS = 80;

describeOrSkip(existsSync('/proc/self/fd') ? undefined : 'needs /proc', 'after a power cut', () => {
  let folder: string;
  let migrationsDirectory: string;
  let dataDir: string;
  let image: FlushedImage | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'palimpsest-power-cut-'));
    dataDir = join(folder, 'data');
    migrationsDirectory = join(folder, 'migrations');
    mkdirSync(migrationsDirectory);
    writeFileSync(
      join(migrationsDirectory, '000001_notes.sql'),
      'CREATE TABLE app.notes (id integer PRIMARY KEY, body text STORAGE EXTERNAL NOT NULL);',
    );
  });
  afterEach(() => {
    flushes.listener = () => {};
    image?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (database: EmbeddedDatabase, text: string, values: unknown[] = []) =>
    database.transaction((tx) => tx.query({ text, values }));

  const lastCheckpoint = (database: EmbeddedDatabase) =>
    run(database, 'SELECT checkpoint_lsn FROM pg_control_checkpoint()');

  /** Opens, writes `ROWS` rows of 1 MiB one by one, and puts what a power cut would have left into a new place. */
  async function writeThenCut(flushesToDisk: boolean): Promise<string> {
    await (await openPglite({ dataDir, migrationsDirectory, flushesToDisk })).close();
    image = new FlushedImage(join(dataDir, 'postgres'));
    flushes.listener = (descriptor) => image?.flushed(descriptor);
    const database = await openPglite({ dataDir, migrationsDirectory, flushesToDisk });
    const checkpointAtStart = await lastCheckpoint(database);
    for (let id = 0; id < ROWS; id += 1) {
      await run(
        database,
        'INSERT INTO app.notes VALUES ($1::integer, repeat(md5($1::integer::text), 32768))',
        [id],
      );
    }
    // Over 64 MB of log were written, so the upkeep made a checkpoint on the way: recovery needs the tables'
    // files too, and log segments under new names.
    expect(await lastCheckpoint(database)).not.toEqual(checkpointAtStart);
    flushes.listener = () => {};
    const left = join(folder, 'left');
    image.writeTo(join(left, 'postgres'));
    await database.close();
    return left;
  }

  const READ_ALL = `SELECT count(*) AS rows, count(*) FILTER (WHERE body = repeat(md5(id::text), 32768)) AS whole
    FROM app.notes`;

  it('every acknowledged row is there', async () => {
    const database = await openPglite({ dataDir: await writeThenCut(true), migrationsDirectory });
    const [row] = await run(database, READ_ALL);
    await database.close();
    expect(row).toEqual({ rows: ROWS, whole: ROWS });
  });

  it('rows are lost without flushing, so this test can tell', async () => {
    const database = await openPglite({ dataDir: await writeThenCut(false), migrationsDirectory });
    const [row] = await run(database, READ_ALL);
    await database.close();
    expect(row).toEqual({ rows: 0, whole: 0 });
  });
});

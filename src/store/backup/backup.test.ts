import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createGzip, gunzipSync, gzipSync } from 'node:zlib';
import { packTar, unpackTar } from 'modern-tar';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { PalimpsestError } from '../../core/errors.ts';
import { lockDataDirectory } from '../data-directory-lock.ts';
import { makeTemplate } from '../pglite/template.ts';
import { copyDirectory, openPglite } from '../pglite.ts';
import type { SqlDatabase } from '../sql-database.ts';
import { type BackupManifest, manifestText, parseManifest } from './backup-manifest.ts';
import { inspectBackup } from './inspect-backup.ts';
import { restoreBackup } from './restore-backup.ts';
import { type DatabaseCopy, packCopy, removeCopy } from './take-backup.ts';

const CONTENTS = ['tea', 'coffee', 'Wasser – naïve 😀'];

vi.setConfig({ testTimeout: 60_000 });

let folder: string;
let dataDir: string;
let file: string;
/** Made once: it takes most of the time that a new database takes. */
let template: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-backup-'));
  dataDir = join(folder, 'data');
  file = join(folder, 'whole.backup');
  template = join(folder, 'template.tar.gz');
  await writeFile(template, gzipSync(await makeTemplate()));
  const database = await openPglite({ dataDir, template });
  await write(database, CONTENTS);
  await save(await database.copy('1.2.3'), file);
  await database.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function write(database: SqlDatabase, contents: readonly string[]): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.exec(`
      INSERT INTO app.tenants (tenant_id, created_at) VALUES ('t', now()) ON CONFLICT DO NOTHING;
      INSERT INTO app.namespaces (tenant_id, path, version, created_at, updated_at)
        VALUES ('t', 'team.notes', 1, now(), now()) ON CONFLICT DO NOTHING`);
    await tx.query({
      text: `INSERT INTO app.memories (tenant_id, id, namespace, created_by, type, content, content_hash, metadata,
          tags, importance, status, created_at, updated_at, version)
        SELECT 't', gen_random_uuid(), 'team.notes', 'ada', 'note', content,
          encode(sha256(convert_to(content, 'UTF8')), 'hex'), '{}', '{}', 0.5, 'unconfirmed', now(), now(), 1
        FROM unnest($1::text[]) AS content`,
      values: [contents],
    });
  });
}

/** As `palimpsest backup create` does. */
async function save(copy: DatabaseCopy, target: string): Promise<void> {
  await pipeline((await packCopy(copy)).stream, createGzip(), createWriteStream(target));
  removeCopy(copy.folder);
}

let restores = 0;

/** A folder that isn't there yet. */
function newRoot(): string {
  restores += 1;
  return join(folder, `restored-${restores}`);
}

async function contentsIn(root: string): Promise<unknown[]> {
  const database = await openPglite({ dataDir: root });
  const rows = await database.transaction((tx) =>
    tx.query({ text: 'SELECT content FROM app.memories ORDER BY content COLLATE "C"', values: [] }),
  );
  await database.close();
  return rows.map(({ content }) => content);
}

async function refusal(promise: Promise<unknown>): Promise<PalimpsestError> {
  return promise.then(
    () => expect.unreachable('nothing was refused'),
    (error: unknown) => error as PalimpsestError,
  );
}

test('a restored store holds what was in the original, and works', async () => {
  const root = newRoot();
  const steps = new Set<string>();
  const manifest = await restoreBackup({ file, root, onProgress: (step) => steps.add(step) });
  expect(manifest).toMatchObject({ productVersion: '1.2.3', rows: { memories: 3, namespaces: 1 } });
  expect([...steps]).toEqual(['check', 'unpack']);
  expect(await contentsIn(root)).toEqual([...CONTENTS].sort());
  expect(readdirSync(root).sort()).toEqual(['palimpsest.lock', 'postgres']);
  expect((await stat(root)).mode & 0o777).toBe(0o700);
  const again = await openPglite({ dataDir: root });
  await write(again, ['cocoa']);
  await again.close();
  expect(await contentsIn(root)).toContain('cocoa');
});

test('an empty folder is taken, and one that a broken attempt left', async () => {
  const root = newRoot();
  mkdirSync(join(root, 'postgres.new', 'files'), { recursive: true });
  writeFileSync(join(root, 'palimpsest.lock'), '');
  await restoreBackup({ file, root });
  expect(await contentsIn(root)).toHaveLength(3);
});

describe('a folder that is in use', () => {
  test('is refused whatever is in it, and nothing in it is changed', async () => {
    const root = newRoot();
    mkdirSync(root);
    writeFileSync(join(root, 'letter.txt'), 'mine');
    for (const used of [root, dataDir]) {
      const before = readdirSync(used);
      expect(await refusal(restoreBackup({ file, root: used }))).toMatchObject({ code: 'conflict' });
      expect(readdirSync(used)).toEqual(before);
    }
    expect(await contentsIn(dataDir)).toHaveLength(3);
  });

  test('is refused while another process holds it', async () => {
    const root = newRoot();
    mkdirSync(root);
    const lock = await lockDataDirectory(root);
    expect(await refusal(restoreBackup({ file, root }))).toMatchObject({ code: 'store_locked' });
    lock.release();
  });
});

describe('a damaged backup', () => {
  const tar = async () => gunzipSync(await readFile(file));
  const entries = async () => unpackTar(await tar());
  const manifest = async () => parseManifest(Buffer.from((await entries())[0]?.data ?? []).toString());

  /** The backup with other entries, as a program that knows the form could write them. */
  async function rewritten(
    change: (all: Awaited<ReturnType<typeof entries>>) => Awaited<ReturnType<typeof entries>>,
  ): Promise<Uint8Array> {
    return gzipSync(await packTar(change(await entries())));
  }

  async function withManifest(change: Partial<BackupManifest>): Promise<Uint8Array> {
    const text = Buffer.from(manifestText({ ...(await manifest()), ...change }));
    return rewritten(([first, ...rest]) => [
      { header: { ...(first?.header ?? { name: '' }), size: text.length }, data: new Uint8Array(text) },
      ...rest,
    ]);
  }

  const DAMAGES: [string, () => Promise<Uint8Array>][] = [
    ['nothing', async () => new Uint8Array()],
    ['no archive', async () => Buffer.from('no backup at all')],
    ['the first half', async () => (await readFile(file)).subarray(0, (await stat(file)).size / 2)],
    ['all but the last byte', async () => (await readFile(file)).subarray(0, -1)],
    [
      'a flipped bit',
      async () => {
        const bytes = await readFile(file);
        bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1;
        return bytes;
      },
    ],
    ['an archive that ends early', async () => gzipSync((await tar()).subarray(0, 512 * 2000))],
    ['a file less', () => rewritten((all) => all.toSpliced(5, 1))],
    ['a file twice', () => rewritten((all) => [...all, ...all.slice(5, 6)])],
    [
      'a file more',
      () =>
        rewritten((all) => [
          ...all,
          { header: { name: 'files/../../escaped', size: 1 }, data: new Uint8Array(1) },
        ]),
    ],
    [
      'a file with other bytes',
      () =>
        rewritten((all) =>
          all.map((entry) =>
            entry.header.name.endsWith('PG_VERSION')
              ? { ...entry, data: new Uint8Array(Buffer.from('99\n')) }
              : entry,
          ),
        ),
    ],
    ['no manifest', () => rewritten((all) => all.slice(1))],
    ['a manifest that leaves the folder', () => withManifest({ folders: ['../elsewhere'] })],
    [
      'a manifest with other counts',
      async () => withManifest({ rows: { ...(await manifest()).rows, memories: 4 } }),
    ],
  ];

  test.each(DAMAGES)('%s: is refused with a reason, and leaves nothing behind', async (name, damage) => {
    const damaged = join(folder, 'damaged.backup');
    await writeFile(damaged, await damage());
    const root = newRoot();
    const refused = await refusal(restoreBackup({ file: damaged, root }));
    expect(refused.message, name).toMatch(/^The backup is damaged: .+\. Nothing was restored\.$/);
    expect(refused.code).toBe('invalid_input');
    expect(existsSync(root)).toBe(false);
    expect(existsSync(join(folder, 'escaped'))).toBe(false);
    // A folder that was there stays as it was.
    mkdirSync(root);
    await refusal(restoreBackup({ file: damaged, root }));
    expect(readdirSync(root)).toEqual([]);
  });

  test('a content that is not the one that was hashed is noticed', async () => {
    const changed = join(folder, 'changed');
    const database = await openPglite({ dataDir: changed, template });
    await write(database, CONTENTS);
    await database.transaction((tx) =>
      tx.query({ text: "UPDATE app.memories SET content = 'changed' WHERE content = 'tea'", values: [] }),
    );
    const target = join(folder, 'changed.backup');
    await save(await database.copy('1.2.3'), target);
    await database.close();
    const root = newRoot();
    expect((await refusal(restoreBackup({ file: target, root }))).message).toContain('1 entries');
    expect(existsSync(root)).toBe(false);
  });

  test('one of a later version is refused as such', async () => {
    const later = join(folder, 'later.backup');
    await writeFile(later, await withManifest({ schemaVersion: 9999, productVersion: '42.0.0' }));
    const root = newRoot();
    const refused = await refusal(restoreBackup({ file: later, root }));
    expect([refused.code, refused.details[0]?.hint]).toEqual([
      'store_newer',
      expect.stringContaining('42.0.0'),
    ]);
    expect(existsSync(root)).toBe(false);
  });

  test('one that is not there is told by its name', async () => {
    const refused = await refusal(inspectBackup(join(folder, 'nowhere.backup')));
    expect(refused).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('nowhere.backup'),
    });
  });
});

describe('the copy', () => {
  test('is taken while others write, holds what was acknowledged before, and is removed', async () => {
    const busy = join(folder, 'busy');
    const database = await openPglite({ dataDir: busy, template, flushesToDisk: false });
    const acknowledged: string[] = [];
    let isWriting = true;
    const written = async (count: number) => {
      while (acknowledged.length < count) await setImmediate();
    };
    const writer = (async () => {
      for (let number = 0; isWriting; number += 1) {
        await write(database, [`text ${number}`]);
        acknowledged.push(`text ${number}`);
        // A writer that never lets go would keep everything else from running.
        await setImmediate();
      }
    })();
    const target = join(folder, 'busy.backup');
    let before: string[] = [];
    try {
      await written(5);
      before = [...acknowledged];
      const copy = await database.copy('1.2.3');
      const during = acknowledged.length;
      await save(copy, target);
      await written(during + 5);
    } finally {
      isWriting = false;
      await writer;
    }
    expect(readdirSync(busy).filter((name) => name.includes('copy'))).toEqual([]);
    await database.close();
    const root = newRoot();
    await restoreBackup({ file: target, root });
    const restored = await contentsIn(root);
    expect(restored).toEqual(expect.arrayContaining(before));
    expect(restored.length).toBeLessThan(acknowledged.length);
  });

  test('that was left by a killed process is removed at the next start, and by the next backup after a day', async () => {
    const left = join(dataDir, 'postgres.copy-left');
    const packed = join(dataDir, 'postgres.copy-packed');
    const database = await openPglite({ dataDir });
    for (const copy of [left, packed]) mkdirSync(join(copy, 'base'), { recursive: true });
    utimesSync(left, new Date(0), new Date(0));
    removeCopy((await database.copy('1.2.3')).folder);
    expect([existsSync(left), existsSync(packed)]).toEqual([false, true]);
    await database.close();
    await (await openPglite({ dataDir })).close();
    expect(existsSync(packed)).toBe(false);
  });

  test('of a directory nobody uses migrates nothing, and there has to be a database', async () => {
    const { copy, close } = await copyDirectory(dataDir, '1.2.3');
    removeCopy(copy.folder);
    await close();
    expect(copy.rows.memories).toBe(3);
    const nowhere = join(folder, 'nowhere');
    expect(await refusal(copyDirectory(nowhere, '1.2.3'))).toMatchObject({ code: 'invalid_config' });
    expect(existsSync(nowhere)).toBe(false);
  });

  test('of a store in memory is refused', async () => {
    const database = await openPglite({ template });
    expect(await refusal(database.copy('1.2.3'))).toMatchObject({ code: 'invalid_config' });
    await database.close();
  });
});

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DataDirectoryLock, lockDataDirectory, readHolder } from './data-directory-lock.ts';

/** Within one process; test/e2e/data-directory.test.ts has several, and kills them. */

const addon = vi.hoisted(() => ({ isMissing: false, fails: false }));
vi.mock('fs-native-extensions', async (importOriginal) => {
  const original = await importOriginal<{ tryLock(descriptor: number): boolean }>();
  return {
    get tryLock() {
      if (addon.isMissing) throw new Error("Cannot find addon '.'");
      if (addon.fails) {
        return () => {
          throw Object.assign(new Error('ENOTSUP: operation not supported'), { code: 'ENOTSUP' });
        };
      }
      return original.tryLock;
    },
  };
});

let directory: string;
const held: DataDirectoryLock[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'palimpsest-lock-'));
  Object.assign(addon, { isMissing: false, fails: false });
});
afterEach(() => {
  for (const lock of held.splice(0)) lock.release();
  rmSync(directory, { recursive: true, force: true });
});

async function lock(): Promise<DataDirectoryLock> {
  const taken = await lockDataDirectory(directory);
  held.push(taken);
  return taken;
}

const refusal = () => lockDataDirectory(directory).catch((error: unknown) => error);
const holderFile = () => join(directory, 'palimpsest.holder.json');
const lockFile = () => join(directory, 'palimpsest.lock');

describe('a lock that is held', () => {
  it('is refused to everybody else, with who holds it, since when, and what to do', async () => {
    const before = new Date();
    await lock();
    const { startedAt = '' } = readHolder(directory) ?? {};
    expect(new Date(startedAt).getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(await refusal()).toMatchObject({
      code: 'store_locked',
      message: `The data directory ${directory} is in use by process ${process.pid} on ${hostname()}, which has held it since ${startedAt}.`,
      details: [{ path: directory, hint: expect.stringContaining('Stop that process') }],
    });
  });

  it('says where the data is served once that is known', async () => {
    const mine = await lock();
    mine.setUrl('http://127.0.0.1:7077');
    expect(await refusal()).toMatchObject({
      message: expect.stringMatching(/serves it at http:\/\/127\.0\.0\.1:7077\.$/),
      details: [{ hint: expect.stringContaining('http://127.0.0.1:7077') }],
    });
  });

  it('says that it is about to be free once its holder ends, and no longer where it serves', async () => {
    const mine = await lock();
    mine.setUrl('http://127.0.0.1:7077', { token: 'secret', operatorToken: 'secret' });
    mine.setUrl(null);
    expect(await refusal()).toMatchObject({ message: expect.stringMatching(/ and is about to end\.$/) });
    expect(readFileSync(holderFile(), 'utf8')).not.toMatch(/7077|secret/);
  });

  it('counts although its record is missing', async () => {
    await lock();
    rmSync(holderFile());
    expect(await refusal()).toMatchObject({
      code: 'store_locked',
      message: `The data directory ${directory} is in use by another process.`,
    });
  });

  it.each(['', '{', 'null', '[]', '{"pid":"1"}', '\0\0\0'])(
    'counts although its record is %j',
    async (record) => {
      await lock();
      writeFileSync(holderFile(), record);
      expect(await refusal()).toMatchObject({
        code: 'store_locked',
        message: expect.stringContaining('another process'),
      });
    },
  );

  it('is not released by an attempt that was refused', async () => {
    await lock();
    await refusal();
    expect(await refusal()).toMatchObject({ code: 'store_locked' });
  });
});

describe('a lock that is free', () => {
  it('is taken once, however many ask for it at the same time', async () => {
    const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => lock()));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is taken whatever the record says that a dead process left', async () => {
    writeFileSync(
      holderFile(),
      JSON.stringify({ pid: 1, hostname: hostname(), startedAt: '2020-01-01T00:00:00.000Z' }),
    );
    await lock();
    expect(readHolder(directory)?.pid).toBe(process.pid);
  });

  it('can be taken again after its release, which takes the record along', async () => {
    const first = await lock();
    first.release();
    first.release();
    expect(existsSync(holderFile())).toBe(false);
    await lock();
  });

  it('is left alone by its former holder', async () => {
    const former = await lock();
    former.release();
    const present = await lock();
    present.setUrl('http://present');
    former.setUrl('http://former');
    former.release();
    expect(readHolder(directory)?.url).toBe('http://present');
    expect(await refusal()).toMatchObject({ code: 'store_locked' });
  });

  it('leaves files for its user alone, and nothing half written', async () => {
    (await lock()).setUrl('http://127.0.0.1:1');
    expect(readdirSync(directory).sort()).toEqual(['palimpsest.holder.json', 'palimpsest.lock']);
    expect(statSync(holderFile()).mode & 0o077).toBe(0);
    expect(readFileSync(lockFile(), 'utf8')).toContain('Locked by');
  });
});

describe('where no lock can be had', () => {
  it('says that the platform has no addon, and what runs instead', async () => {
    addon.isMissing = true;
    expect(await refusal()).toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining(`${process.platform}-${process.arch}`),
      details: [{ hint: expect.stringContaining('PostgreSQL') }],
    });
  });

  it('says that the file system has no locks', async () => {
    addon.fails = true;
    expect(await refusal()).toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('file system'),
    });
  });
});

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type BackupStep, createBackup, restoreBackup } from '../../src/app-backup.ts';
import { openPglite } from '../../src/store/pglite.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
let dataDir: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-app-backup-'));
  dataDir = join(folder, 'data');
  await (await openPglite({ dataDir })).close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function create(file: string, stopAt?: BackupStep) {
  const stop = new AbortController();
  return createBackup(
    { store: { dataDir }, logLevel: 'silent', warnings: [] },
    join(folder, file),
    (step) => step === stopAt && stop.abort(),
    stop.signal,
  );
}

test.each<BackupStep>(['copy', 'check'])(
  'a backup that is given up at the step %s leaves nothing behind',
  async (step) => {
    await expect(create('a.backup', step)).rejects.toMatchObject({ code: 'shutting_down' });
    expect(readdirSync(folder)).toEqual(['data']);
    expect(readdirSync(dataDir).filter((name) => name.includes('copy'))).toEqual([]);
  },
);

test.each<BackupStep>(['check', 'unpack'])(
  'a restoring that is given up at the step %s leaves the folder as it was, there or not',
  async (step) => {
    const file = join(folder, `of-${step}.backup`);
    await create(`of-${step}.backup`);
    const target = join(folder, 'restored');
    for (const isThere of [false, true]) {
      if (isThere) mkdirSync(target);
      const stop = new AbortController();
      const restoring = restoreBackup(file, target, (at) => at === step && stop.abort(), stop.signal);
      await expect(restoring).rejects.toMatchObject({ code: 'shutting_down', details: [{ path: target }] });
      expect(existsSync(target) ? readdirSync(target) : null).toEqual(isThere ? [] : null);
    }
    await restoreBackup(file, target, () => {}, new AbortController().signal);
    rmSync(target, { recursive: true });
    rmSync(file);
  },
);

test('the store is free for the next backup', async () => {
  await expect(create('b.backup', 'copy')).rejects.toMatchObject({ code: 'shutting_down' });
  expect(await create('b.backup')).toMatchObject({ file: join(folder, 'b.backup') });
});

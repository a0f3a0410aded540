import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { finishBackupFile, refuseUnwritable } from './finish-backup-file.ts';

// A file system without hard links can't be mounted by a test: only its answer to `link` is made up.
vi.mock('node:fs/promises', { spy: true });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-finish-'));
  writeFileSync(at('partial'), 'whole');
});
afterEach(() => {
  vi.mocked(files.link).mockReset();
  rmSync(folder, { recursive: true, force: true });
});

const at = (name: string) => join(folder, name);

describe.each([null, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP'])('where a hard link fails with %s', (code) => {
  beforeEach(() => {
    if (code !== null) vi.mocked(files.link).mockRejectedValue(Object.assign(new Error(code), { code }));
  });

  test('a whole backup gets its name', async () => {
    await finishBackupFile(at('partial'), at('a.backup'));
    expect(readFileSync(at('a.backup'), 'utf8')).toBe('whole');
  });

  test('a file that came into being meanwhile stays what it is', async () => {
    writeFileSync(at('a.backup'), 'another one');
    const refused = finishBackupFile(at('partial'), at('a.backup'));
    await expect(refused).rejects.toMatchObject({ code: 'conflict' });
    expect(readFileSync(at('a.backup'), 'utf8')).toBe('another one');
  });

  test('a backup that can not be moved leaves no empty file in its name', async () => {
    rmSync(at('partial'));
    await expect(finishBackupFile(at('partial'), at('a.backup'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(existsSync(at('a.backup'))).toBe(false);
  });
});

test('another failure of the link is told as it is', async () => {
  vi.mocked(files.link).mockRejectedValue(Object.assign(new Error('full'), { code: 'ENOSPC' }));
  await expect(finishBackupFile(at('partial'), at('a.backup'))).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(readdirSync(folder)).toEqual(['partial']);
});

test('a file that exists, and a folder that does not or is none, are refused before anything is copied', async () => {
  await expect(refuseUnwritable(at('a.backup'))).resolves.toBeUndefined();
  await expect(refuseUnwritable(at('partial'))).rejects.toMatchObject({ code: 'conflict' });
  await expect(refuseUnwritable(at('none/a.backup'))).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(at('none')),
  });
  await expect(refuseUnwritable(at('partial/a.backup'))).rejects.toMatchObject({ code: 'invalid_input' });
});

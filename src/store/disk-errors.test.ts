import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeOrSkip } from '../../test/helpers/skip.ts';
import { onDisk } from './disk-errors.ts';
import { openPglite } from './pglite.ts';

const fails = (error: unknown) => onDisk('/data', () => Promise.reject(error)).catch((told: unknown) => told);
const ofSystem = (code: string) => Object.assign(new Error(`${code}: a reason`), { code });

test.each([
  ['ENOSPC', 'store_unavailable', 'is full'],
  ['EDQUOT', 'store_unavailable', 'is full'],
  ['EIO', 'store_unavailable', 'fails'],
  ['EROFS', 'invalid_config', "can't be written to"],
  ['EACCES', 'invalid_config', "can't be written to"],
  ['EPERM', 'invalid_config', "can't be written to"],
])('%s is said in words, with the place and what to do', async (code, expected, words) => {
  const cause = ofSystem(code);
  expect(await fails(cause)).toMatchObject({
    code: expected,
    message: expect.stringMatching(new RegExp(`/data ${words}: ${code}: a reason\\.$`)),
    details: [{ path: '/data', hint: expect.stringMatching(/\.$/) }],
    cause,
  });
});

test('what is no fault of the disk stays what it is', async () => {
  for (const error of [ofSystem('ENOENT'), new TypeError('x'), 'a text'])
    expect(await fails(error)).toBe(error);
});

const DEVICES = existsSync('/dev/full') ? undefined : 'there is no /dev/full';

describeOrSkip(DEVICES, 'a disk that is full', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'palimpsest-full-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('is told when a store is opened, which then leaves nothing there and opens once there is room', async () => {
    symlinkSync('/dev/full', join(directory, 'palimpsest.holder.json.new'));
    await expect(openPglite({ dataDir: directory })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(`The disk of the data directory ${directory} is full`),
    });
    expect(readdirSync(directory)).toEqual([]);
    await (await openPglite({ dataDir: directory })).close();
  });
});

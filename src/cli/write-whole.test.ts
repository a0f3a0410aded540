import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { describeOrSkip } from '../../test/helpers/skip.ts';
import { writeWhole } from './write-whole.ts';

let folder: string;
const at = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(at(name), 'utf8');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-write-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a file', () => {
  test('is there when it is whole, for its user alone', async () => {
    const result = await writeWhole(at('a'), false, async (write) => {
      await write('one\n');
      expect(existsSync(at('a'))).toBe(false);
      await write('two\n');
      return 2;
    });
    expect([result, text('a'), statSync(at('a')).mode & 0o777]).toEqual([2, 'one\ntwo\n', 0o600]);
    expect(readdirSync(folder)).toEqual(['a']);
  });

  test('that is there is replaced where that is said, and keeps its rights', async () => {
    writeFileSync(at('a'), 'old', { mode: 0o640 });
    await expect(writeWhole(at('a'), false, async () => {})).rejects.toThrow('Add --force to replace it.');
    expect(text('a')).toBe('old');
    await writeWhole(at('a'), true, (write) => write('new'));
    expect([text('a'), statSync(at('a')).mode & 0o777]).toEqual(['new', 0o640]);
  });

  test('that came into being meanwhile is not replaced', async () => {
    const writing = writeWhole(at('a'), false, async (write) => {
      await write('ours');
      writeFileSync(at('a'), 'theirs');
    });
    await expect(writing).rejects.toThrow('exists');
    expect([text('a'), readdirSync(folder)]).toEqual(['theirs', ['a']]);
  });

  test('of work that fails is not there, and an old one is as it was', async () => {
    writeFileSync(at('old'), 'old');
    for (const name of ['old', 'new']) {
      const writing = writeWhole(at(name), true, async (write) => {
        await write('half');
        throw new Error('no more');
      });
      await expect(writing).rejects.toThrow('no more');
    }
    expect([text('old'), readdirSync(folder)]).toEqual(['old', ['old']]);
  });

  test('behind a link is replaced, and the link stays one', async () => {
    writeFileSync(at('a'), 'old');
    symlinkSync('a', at('link'));
    await writeWhole(at('link'), true, (write) => write('new'));
    expect([text('a'), lstatSync(at('link')).isSymbolicLink()]).toEqual(['new', true]);
  });

  test.each([
    ['a folder', () => folder, 'is a directory'],
    ['in no folder', () => at('no/a'), "can't be written: ENOENT"],
  ])('that is %s is refused', async (_, path, reason) => {
    await expect(writeWhole(path(), true, async () => {})).rejects.toThrow(reason);
  });
});

const DEVICES = existsSync('/dev/full') ? undefined : 'there is no /dev/full';

describeOrSkip(DEVICES, 'a device', () => {
  test('is written to and never replaced; a disk that is full is told', async () => {
    await expect(writeWhole('/dev/full', true, (write) => write('x'))).rejects.toThrow(
      "/dev/full can't be written: ENOSPC",
    );
    await writeWhole('/dev/null', true, (write) => write('x'));
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});

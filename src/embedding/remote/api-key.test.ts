import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { apiKeyReader, withoutKeys } from './api-key.ts';

const directory = mkdtempSync(join(tmpdir(), 'palimpsest-key-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('the key of an embedding service', () => {
  test('comes from the environment variable that is named', () => {
    expect(apiKeyReader({ env: 'MY_KEY' }, { MY_KEY: ' abc123 ' })()).toBe('abc123');
  });

  test('comes from a file, and a key replaced there counts at the next call', () => {
    const file = join(directory, 'key');
    writeFileSync(file, 'first\n');
    const read = apiKeyReader({ file }, {});
    expect(read()).toBe('first');
    writeFileSync(file, 'second\n');
    expect(read()).toBe('second');
  });

  test('missing, blank and broken keys are refused at the start, and never repeated', () => {
    const file = join(directory, 'broken');
    writeFileSync(file, 'first line\nsecret line\n');
    const blank = join(directory, 'blank');
    writeFileSync(blank, ' \n');
    const sources = [
      { env: 'UNSET' },
      { env: 'EMPTY' },
      { file: join(directory, 'none') },
      { file: blank },
      { file },
    ];
    for (const source of sources) {
      const read = () => apiKeyReader(source, { EMPTY: '' });
      expect(read).toThrow(expect.objectContaining({ code: 'invalid_config' }));
      expect(read).not.toThrow(/secret/);
    }
  });
});

describe('a message without keys', () => {
  test('hides the key itself, and whatever looks like one', () => {
    expect(withoutKeys('Incorrect API key provided: topsecret.', 'topsecret')).toBe(
      'Incorrect API key provided: [hidden].',
    );
    expect(withoutKeys('bad sk-proj-abcdef****wxyz, Bearer abc.def!', undefined)).toBe(
      'bad [hidden], [hidden]',
    );
  });

  test('leaves other words alone', () => {
    expect(withoutKeys('The model text-embedding-3-small is not there.', 'k')).toContain(
      'text-embedding-3-small',
    );
  });
});

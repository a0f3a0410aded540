import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkSafetensors } from './safetensors.ts';

const folder = mkdtempSync(join(tmpdir(), 'palimpsest-safetensors-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A file with one tensor of 16 bytes, as the format has it. */
function file(
  options: { readonly header?: string; readonly length?: bigint; readonly data?: number } = {},
): string {
  const header = options.header ?? '{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}';
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(options.length ?? BigInt(header.length));
  const path = join(folder, 'model.safetensors');
  writeFileSync(path, Buffer.concat([length, Buffer.from(header), Buffer.alloc(options.data ?? 16)]));
  return path;
}

describe('a safetensors file', () => {
  test('that is whole is taken, also with text of its maker in the header', () => {
    expect(() => checkSafetensors(file())).not.toThrow();
    const header = '{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}';
    expect(() => checkSafetensors(file({ header }))).not.toThrow();
  });

  test.each([
    ['cut short in its data', { data: 15 }, /expected 79 bytes, as its header says/],
    ['cut short in its header', { length: 1_000n }, /expected a safetensors file/],
    ['with a header that is no JSON', { header: 'not JSON at all' }, /expected a safetensors file/],
    ['with no tensor', { header: '{}' }, /expected a safetensors file/],
    ['that claims an endless header', { length: 0xffff_ffff_ffffn }, /expected a safetensors file/],
  ])('%s is refused, with its size', (_, options, message) => {
    const path = file(options);
    expect(() => checkSafetensors(path)).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    expect(() => checkSafetensors(path)).toThrow(message);
  });

  test('that is empty is refused', () => {
    const path = join(folder, 'empty.safetensors');
    writeFileSync(path, '');
    expect(() => checkSafetensors(path)).toThrow(/0 bytes, expected a safetensors file/);
  });
});

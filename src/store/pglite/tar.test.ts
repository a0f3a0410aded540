import { describe, expect, it } from 'vitest';
import { readTar } from './tar.ts';

/** One entry in ustar form: a header of 512 bytes, then the content in whole blocks. */
function entry(path: string, type: string, content: Uint8Array): Uint8Array {
  const header = new Uint8Array(512);
  const put = (offset: number, text: string) => header.set(Buffer.from(text), offset);
  put(0, path);
  put(124, `${content.length.toString(8).padStart(11, '0')}\0`);
  put(156, type);
  const padded = new Uint8Array(Math.ceil(content.length / 512) * 512);
  padded.set(content);
  return Buffer.concat([header, padded]);
}

const file = (path: string, text: string) => entry(path, '0', Buffer.from(text));
const folder = (path: string) => entry(path, '5', new Uint8Array());
const END = new Uint8Array(1024);
const read = (...parts: Uint8Array[]) =>
  [...readTar(Buffer.concat(parts))].map(({ path, content }) => [
    path,
    content === null ? null : Buffer.from(content).toString(),
  ]);

describe('readTar', () => {
  it('gives folders and files in order, without a leading slash', () => {
    expect(read(folder('/base'), file('/base/1', 'one'), file('PG_VERSION', '18\n'), END)).toEqual([
      ['base', null],
      ['base/1', 'one'],
      ['PG_VERSION', '18\n'],
    ]);
  });

  it.each([0, 1, 511, 512, 513, 1024])('finds what follows a content of %i bytes', (length) => {
    expect(read(file('a', 'x'.repeat(length)), file('b', 'next'), END)).toEqual([
      ['a', 'x'.repeat(length)],
      ['b', 'next'],
    ]);
  });

  it('takes a name that fills its field, which then has no NUL at its end', () => {
    const name = 'n'.repeat(100);
    expect(read(file(name, 'content'), END)).toEqual([[name, 'content']]);
  });

  it('ends with the archive when that has no empty block at its end', () => {
    expect(read(file('a', 'x'))).toEqual([['a', 'x']]);
  });

  it('refuses an archive that was cut off, instead of giving a part', () => {
    const whole = Buffer.concat([file('a', 'x'), file('b', 'y'.repeat(2000)), END]);
    expect(() => read(whole.subarray(0, 2048))).toThrow(/damaged.*"b"/);
  });

  it.each([
    ['a link', entry('l', '2', new Uint8Array())],
    ['a size that is none', file('s', '').fill(0x7a, 124, 135)],
  ])('refuses %s', (_what, bytes) => {
    expect(() => read(bytes, END)).toThrow(/damaged/);
  });
});

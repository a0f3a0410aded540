import { expect, test } from 'vitest';
import { type JsonLine, readJsonLines } from './json-lines.ts';

async function collect(lines: AsyncIterable<JsonLine>): Promise<JsonLine[]> {
  const all: JsonLine[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

/** The lines of a text that arrives in chunks of so many bytes. */
async function read(content: string | Uint8Array, chunkSize = 1 << 16): Promise<JsonLine[]> {
  const bytes = Buffer.from(content);
  async function* chunks() {
    for (let start = 0; start < bytes.length; start += chunkSize)
      yield bytes.subarray(start, start + chunkSize);
  }
  return collect(readJsonLines(chunks()));
}

test('every way of cutting the stream gives the same lines', async () => {
  const content = '{"a":"é😀"}\n\n[1]\r\n  \n"last"';
  const expected = [
    { number: 1, value: { a: 'é😀' } },
    { number: 3, value: [1] },
    { number: 5, value: 'last' },
  ];
  for (const chunkSize of [1, 2, 3, 5, 7, 100]) {
    expect(await read(content, chunkSize)).toMatchObject(expected);
  }
});

test('the position counts bytes, so that the last line reaches the size of the file', async () => {
  const content = '"é"\n"b"\n';
  expect((await read(content)).map(({ position }) => position)).toEqual([5, 9]);
  expect(Buffer.byteLength(content)).toBe(9);
});

test('a byte order mark is no part of the first line', async () => {
  expect(await read('\ufeff{"a":1}\n')).toMatchObject([{ number: 1, value: { a: 1 } }]);
});

test('an empty stream has no lines', async () => {
  expect(await read('')).toEqual([]);
  expect(await read('\n\n')).toEqual([]);
});

test('the line at fault is named', async () => {
  await expect(read('{}\n{"a":\n')).rejects.toThrow('Line 2 is not valid JSON');
  await expect(read(Buffer.from([0x22, 0x61, 0x22, 0x0a, 0x22, 0xff, 0x22]))).rejects.toThrow(
    'Line 2 is not valid UTF-8',
  );
});

test('a file that is one endless line is refused before it fills the memory', async () => {
  async function* endless() {
    for (;;) yield Buffer.alloc(1 << 20, 'x');
  }
  await expect(collect(readJsonLines(endless()))).rejects.toThrow('Line 1 is longer than');
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDataset } from './dataset.ts';

const ENTRY = { id: 'm1', namespace: 'n', content: 'The cat sleeps.', speaker: 'Ann' };
const QUERY = { id: 'q1', namespace: 'n', query: 'Who sleeps?', relevant: ['m1'], category: 'single' };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'palimpsest-dataset-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(corpus: string | Buffer, queries: string): Promise<void> {
  await writeFile(join(folder, 'corpus.jsonl'), corpus);
  await writeFile(join(folder, 'queries.jsonl'), queries);
}

const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join('\n');

describe('readDataset', () => {
  it('reads entries and queries, skips empty lines and ignores fields it does not know', async () => {
    await write(
      `${lines({ ...ENTRY, metadata: { seq: 1 } })}\r\n\n`,
      lines(QUERY, { ...QUERY, id: 'q2', relevant: [] }),
    );
    const { entries, queries } = await readDataset(folder);
    expect(entries).toEqual([ENTRY]);
    expect(queries.map(({ id, relevant, category }) => [id, [...relevant], category])).toEqual([
      ['q1', ['m1'], 'single'],
      ['q2', [], 'single'],
    ]);
  });

  it('keeps a line with a raw line separator U+2028 in one piece', async () => {
    const content = 'first\u2028second';
    await write(lines({ ...ENTRY, content }), lines(QUERY));
    expect((await readDataset(folder)).entries[0]?.content).toBe(content);
  });

  it('keeps characters whole that stand across the borders of file chunks', async () => {
    // Read in chunks of 64 KiB; with three-byte characters, borders fall inside one.
    const content = '記'.repeat(200_000);
    await write(lines({ ...ENTRY, content }), lines(QUERY));
    expect((await readDataset(folder)).entries[0]?.content).toBe(content);
  });

  it.each([
    ['no JSON', '{"id":', /corpus\.jsonl, line 1 is not JSON/],
    ['a list', '[1]', /corpus\.jsonl, line 1 is a list, not an object/],
    ['a missing id', lines({ ...ENTRY, id: undefined }), /line 1: "id" is nothing; it must be text/],
    ['blank content', lines(ENTRY, { ...ENTRY, id: 'm2', content: ' ' }), /line 2: "content" is " "/],
    ['a number as namespace', lines({ ...ENTRY, namespace: 7 }), /"namespace" is 7/],
    ['an id twice', lines(ENTRY, ENTRY), /"m1" stands twice/],
    [
      'another namespace than its query',
      lines({ ...ENTRY, namespace: 'o' }),
      /calls m1 relevant, which is in namespace o/,
    ],
    [
      'an unknown relevant id',
      lines({ ...ENTRY, id: 'm0' }),
      /calls m1 relevant, which the corpus does not hold/,
    ],
  ])('refuses a corpus with %s and says where', async (_, corpus, message) => {
    await write(corpus, lines(QUERY));
    await expect(readDataset(folder)).rejects.toThrow(message);
  });

  it.each([
    [{ ...QUERY, relevant: 'm1' }, /"relevant" is "m1"; it must be a list of texts/],
    [{ ...QUERY, relevant: [1] }, /"relevant" is a list; it must be a list of texts/],
    [{ ...QUERY, query: '' }, /"query" is ""/],
  ])('refuses the query %j', async (query, message) => {
    await write(lines(ENTRY), lines(query));
    await expect(readDataset(folder)).rejects.toThrow(message);
  });

  it('refuses bytes that are no UTF-8 instead of replacing them', async () => {
    await write(Buffer.from([0x7b, 0xff, 0x7d]), lines(QUERY));
    await expect(readDataset(folder)).rejects.toThrow(/corpus\.jsonl can not be read/);
  });

  it('refuses a folder without the files', async () => {
    await expect(readDataset(folder)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/corpus\.jsonl can not be read: ENOENT/),
    });
  });
});

import { expect, test } from 'vitest';
import { variantId } from './variant.ts';

const USUAL = { prefixes: { document: 'd: ', query: 'q: ' }, longText: {}, maxTokens: 512 };

test('the usual settings leave a model its name, also where they are spelt out', () => {
  expect(variantId('m', USUAL, USUAL)).toBe('m');
  const spelt = { ...USUAL, longText: { longText: 'chunk', maxChunks: 8 } } as const;
  expect(variantId('m', spelt, USUAL)).toBe('m');
});

test('each setting that changes vectors makes another name, the same one each time', () => {
  const changes = [
    { prefixes: { document: '', query: 'q: ' } },
    { prefixes: { document: 'd: ', query: '' } },
    { longText: { longText: 'truncate' } },
    { longText: { maxChunks: 9 } },
    { maxTokens: 256 },
  ] as const;
  const ids = changes.map((change) => variantId('m', { ...USUAL, ...change }, USUAL));
  expect(new Set(ids).size).toBe(changes.length);
  for (const id of ids) expect(id).toMatch(/^m\+[0-9a-f]{8}$/);
  expect(changes.map((change) => variantId('m', { ...USUAL, ...change }, USUAL))).toEqual(ids);
});

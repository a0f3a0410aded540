import { expect, test } from 'vitest';
import { listQuerySchema, listRequestSchema } from './list-request.ts';
import { listQueryFields, queryString } from './list-url.ts';
import { parseContract } from './parse-contract.ts';

/** As a server reads a query string: one value as a text, several as a list. */
function readBack(text: string): Record<string, string | string[] | undefined> {
  const parameters = new URLSearchParams(text);
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

test('a query string asks for exactly what the body of a list asks for', () => {
  const request = {
    namespaces: ['a.*', 'b & c'.replaceAll(' & ', '-')],
    filter: {
      type: ['fact', 'note'],
      tags: { any: ['x&y=1', 'é'], all: ['z'] },
      status: 'confirmed',
      observed_at: { from: '2026-05-02', until: '2026-05-03' },
      metadata: { 'a.b': { gte: 0 } },
    },
    lifecycle: 'any',
    text: 'tea & "coffee"',
    limit: 1,
  };
  const { after: _, ...fromBody } = parseContract(listRequestSchema, request);
  const { after: __, ...fromUrl } = parseContract(
    listQuerySchema,
    readBack(queryString(listQueryFields(request))),
  );
  expect(fromUrl).toEqual(fromBody);
});

test('nothing asked is no query string', () => {
  expect(queryString(listQueryFields({}))).toBe('');
  expect(queryString(listQueryFields({ filter: { tags: ['a', 'b'] } }))).toBe('?tag=a&tag=b');
});

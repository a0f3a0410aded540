import fc from 'fast-check';
import { z } from 'zod';

/** Values that requests are filled with: what makes sense here, beside what no schema could think of. */
export interface Pools {
  /** Namespaces and patterns, everybody's. */
  readonly scopes: readonly string[];
  /** Ids of entries, traces and keys, everybody's. */
  readonly ids: readonly string[];
  readonly words: readonly string[];
}

const HOSTILE_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '%',
  "' OR '1'='1' --",
  '"; DROP TABLE app.memories; --',
  '../../etc/passwd',
  '${user_id}',
  '*',
  'a'.repeat(5000),
  '\u202e\u200b',
  '-1',
  '1e999',
  'NaN',
  'null',
  '[]',
  '{}',
  '__proto__',
  '2026-02-30',
  '2026-05-02T09:30:00Z',
  '0001-01-01',
  '9999-12-31',
  'é😀',
];
const HOSTILE_NUMBERS = [0, -0, 1, -1, 0.5, 1.5, 201, 1e9, 1e308, -1e308, 5e-324, 2 ** 53, 0.4, 100];

/** Any JSON value at all. */
const anything = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, [], {}, [[]], { a: { b: [] } }),
  fc.constantFrom<unknown>(...HOSTILE_TEXTS),
  fc.constantFrom<unknown>(...HOSTILE_NUMBERS),
  fc.jsonValue(),
);

/**
 * Values for a schema of the contract: most of them of the right shape, so that they reach what lies behind the
 * schema, and some with a part that is anything at all.
 */
export function valuesOf(schema: z.core.$ZodType, pools: Pools): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 30, arbitrary: rightShape(schema, pools) }, { weight: 1, arbitrary: anything });
}

function rightShape(schema: z.core.$ZodType, pools: Pools): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return valuesOf(schema.def.innerType, pools);
  }
  if (schema instanceof z.ZodPipe) return rightShape(schema.in, pools);
  if (schema instanceof z.ZodObject) return objects(schema, pools);
  if (schema instanceof z.ZodArray) return fc.array(valuesOf(schema.element, pools), { maxLength: 4 });
  if (schema instanceof z.ZodUnion)
    return fc.oneof(...schema.options.map((option) => valuesOf(option, pools)));
  if (schema instanceof z.ZodLiteral) return fc.constantFrom<unknown>(...schema.values);
  if (schema instanceof z.ZodEnum) return fc.constantFrom<unknown>(...schema.options);
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodNumber) return numbers();
  if (schema instanceof z.ZodString) return texts(schema, pools);
  // What a rule of the core reads: metadata, conditions, messages.
  return fc.oneof(jsonObjects(pools), anything);
}

/** Required fields are there nearly always, others often, and now and then there is one of another name. */
function objects(schema: z.ZodObject, pools: Pools): fc.Arbitrary<object> {
  const fields = Object.entries(schema.shape).map(([name, inner]) => {
    const isRequired = !(inner instanceof z.ZodOptional || inner instanceof z.ZodDefault);
    return fc
      .tuple(fc.integer({ min: 0, max: 99 }), valuesOf(inner, pools))
      .map(([die, value]) => (die < (isRequired ? 98 : 35) ? [[name, value]] : []));
  });
  const stranger = fc.constantFrom('user_id', 'tenant_id', 'weights', 'isAdmin', '__proto__', 'extra');
  const extra = fc
    .tuple(fc.integer({ min: 0, max: 99 }), stranger, anything)
    .map(([die, name, value]) => (die < 3 ? [[name, value]] : []));
  return fc.tuple(...fields, extra).map((parts) => Object.fromEntries(parts.flat()));
}

function numbers(): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(0, 0.1, 0.5, 1, 2, 5) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_NUMBERS) },
  );
}

function texts(schema: z.ZodString, pools: Pools): fc.Arbitrary<string> {
  const { format, enum: words, example } = schema.meta() ?? {};
  const sensible = [
    ...(Array.isArray(words) ? words.map(String) : []),
    ...(typeof example === 'string' ? [example] : []),
    ...(format === 'date-time' ? ['2026-05-02', '2030-01-01T00:00:00+02:00'] : []),
  ];
  return fc.oneof(
    { weight: sensible.length === 0 ? 0 : 8, arbitrary: fc.constantFrom(...sensible, 'x') },
    { weight: 8, arbitrary: fc.constantFrom(...pools.scopes) },
    { weight: 4, arbitrary: fc.constantFrom(...pools.ids) },
    { weight: 4, arbitrary: fc.constantFrom(...pools.words) },
    { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  );
}

/** Objects that look like metadata and like conditions on it. */
function jsonObjects(pools: Pools): fc.Arbitrary<object> {
  const operators = [
    'eq',
    'ne',
    'gt',
    'gte',
    'lt',
    'lte',
    'in',
    'nin',
    'exists',
    'contains',
    '$gtr',
    'and',
    'or',
    'not',
  ];
  const key = fc.oneof(
    fc.constantFrom('a', 'a.b', 'role', 'content', ...operators),
    fc.constantFrom(...HOSTILE_TEXTS),
  );
  const value = fc.oneof(
    anything,
    fc.constantFrom<unknown>(...pools.words),
    fc.dictionary(key, anything, { maxKeys: 2 }),
  );
  return fc.dictionary(key, value, { maxKeys: 3 });
}

/** The query string of an object: texts, and lists as repeated names. */
export function queryStringOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  const parameters = new URLSearchParams();
  for (const [name, part] of Object.entries(value)) {
    for (const one of Array.isArray(part) ? part : [part]) {
      parameters.append(name, typeof one === 'string' ? one : JSON.stringify(one));
    }
  }
  return parameters.toString();
}

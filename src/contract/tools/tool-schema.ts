import { z } from 'zod';
import type { JsonObject } from '../../core/types.ts';

/** Where zod puts the parts that a schema refers to. */
const DEFINITIONS = '#/definitions/';

/**
 * A schema of a tool as JSON Schema draft 7, on the wire's side, without references: not every client follows
 * them. No schema of a tool refers to itself.
 */
export function toolJsonSchema(schema: z.ZodType): JsonObject & { type: 'object' } {
  const {
    $schema: _,
    definitions = {},
    ...root
  } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
  const inlined = inline(root as JsonObject, definitions as JsonObject);
  return { ...inlined, type: 'object' };
}

function inline(node: JsonObject, definitions: JsonObject): JsonObject {
  const { $ref: reference, ...rest } = node;
  const target = typeof reference === 'string' ? definitions[reference.slice(DEFINITIONS.length)] : undefined;
  const whole = isObject(target) ? { ...target, ...rest } : node;
  return Object.fromEntries(
    Object.entries(whole).map(([name, value]) => [name, inlineValue(value, definitions)]),
  );
}

function inlineValue(value: JsonObject[string] | undefined, definitions: JsonObject): JsonObject[string] {
  if (Array.isArray(value)) return value.map((item) => inlineValue(item, definitions));
  return isObject(value) ? inline(value, definitions) : (value ?? null);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { MAX_METADATA_BYTES, MAX_METADATA_DEPTH } from '../../core/defaults.ts';
import { checkMetadata } from '../../core/entry.ts';
import type { JsonObject } from '../../core/types.ts';

/**
 * A value as it is stored: what JSON makes of it. Dates become texts and fields that are `undefined` are left out, as
 * `JSON.stringify` has it; but what JSON would change in silence (`NaN`, `Map`, functions) is refused.
 *
 * @returns A copy that shares nothing with the value.
 * @throws PalimpsestError `invalid_input`, with the path of the offending part
 */
export function jsonItemValue(value: unknown, field = 'value'): JsonObject {
  return checkMetadata(jsonForm(value, field), field);
}

/** @throws PalimpsestError `invalid_input` */
export function jsonForm(value: unknown, field: string): unknown {
  // Beyond both limits the value is left as it is: its check refuses it there.
  let left = MAX_METADATA_BYTES;
  const convert = (part: unknown, depth: number): unknown => {
    left -= 1;
    const plain = hasToJson(part) ? part.toJSON(field) : part;
    if (left < 0 || depth > MAX_METADATA_DEPTH) return plain;
    if (Array.isArray(plain)) return plain.map((item: unknown) => convert(item, depth + 1));
    if (!isPlain(plain)) return plain;
    return Object.fromEntries(
      Object.entries(plain)
        .filter(([, one]) => one !== undefined)
        .map(([key, one]) => [key, convert(one, depth + 1)]),
    );
  };
  return convert(value, 0);
}

function hasToJson(value: unknown): value is { toJSON(key: string): unknown } {
  return (
    typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

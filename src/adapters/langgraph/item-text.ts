import { isBlank } from '../../core/entry.ts';
import type { JsonObject, JsonValue } from '../../core/types.ts';

/** The path of a whole value. */
const WHOLE = '$';
/** `[…]`, `{…}` or a key; dots only separate. */
const STEP = /\[[^\]]*\]|\{[^}]*\}|[^.[\]{}]+/g;

/**
 * The text that stands for an item in searches: what its fields say, one below the other; null where they say
 * nothing, so that the item has nothing to be found by.
 *
 * @param fields - Paths as LangGraph writes them: `text`, `meta.title`, `chapters[*].content`, `authors[0].name`,
 *   `tags[-1]`, `*`, `{title,meta.summary}`, or `$` for the whole value as JSON.
 */
export function itemText(value: JsonObject, fields: readonly string[]): string | null {
  const text = fields.flatMap((field) => textsAt(value, field)).join('\n');
  return isBlank(text) ? null : text;
}

/** The texts a path leads to. */
export function textsAt(value: JsonValue, path: string): string[] {
  const [first, ...rest] = path.match(STEP) ?? [];
  const steps = first === undefined || first === WHOLE ? rest : [first, ...rest];
  return steps.reduce((values, step) => values.flatMap((one) => follow(one, step)), [value]).flatMap(asText);
}

function follow(value: JsonValue, step: string): JsonValue[] {
  if (step.startsWith('[')) return Array.isArray(value) ? itemsAt(value, step.slice(1, -1)) : [];
  if (step.startsWith('{'))
    return step
      .slice(1, -1)
      .split(',')
      .flatMap((path) => valuesAt(value, path.trim()));
  if (step === '*') return typeof value === 'object' && value !== null ? Object.values(value) : [];
  return ownValue(value, step);
}

function itemsAt(list: readonly JsonValue[], index: string): JsonValue[] {
  if (index === '*') return [...list];
  const item = /^-?\d+$/.test(index) ? list.at(Number(index)) : undefined;
  return item === undefined ? [] : [item];
}

function valuesAt(value: JsonValue, path: string): JsonValue[] {
  return path
    .split('.')
    .reduce<JsonValue[]>((values, key) => values.flatMap((one) => ownValue(one, key)), [value]);
}

function ownValue(value: JsonValue, key: string): JsonValue[] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const found = isObject && Object.hasOwn(value, key) ? value[key] : undefined;
  return found === undefined ? [] : [found];
}

function asText(value: JsonValue): string[] {
  if (value === null) return [];
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)];
}

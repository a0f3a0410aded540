import type { JsonValue, MemoryFilter, MetadataFilter } from '../../core/types.ts';
import { type SqlParameters, sqlTime } from '../sql-parameters.ts';

/**
 * Filters as SQL conditions over `app.memories AS m`. The meaning is that of `matchesFilter` in
 * core/filter.ts, and a contract test compares the two. Every condition is two-valued (never NULL), so that
 * `NOT` is a plain negation.
 */

/** Conditions that must all hold; empty for an empty filter. */
export function filterConditions(filter: MemoryFilter, parameters: SqlParameters): string[] {
  const conditions: string[] = [];
  const add = (value: unknown, condition: (placeholder: string) => string) => {
    if (value !== undefined) conditions.push(condition(parameters.bind(value)));
  };
  add(filter.types, (p) => `m.type = ANY(${p}::text[])`);
  add(filter.tagsAny, (p) => `m.tags && ${p}::text[]`);
  add(filter.tagsAll, (p) => `m.tags @> ${p}::text[]`);
  add(filter.statuses, (p) => `m.status = ANY(${p}::text[])`);
  add(optionalTime(filter.observedFrom), (p) => `coalesce(m.observed_at >= ${p}::timestamptz, false)`);
  add(optionalTime(filter.observedUntil), (p) => `coalesce(m.observed_at < ${p}::timestamptz, false)`);
  if (filter.metadata !== undefined) conditions.push(metadataCondition(filter.metadata, parameters));
  return conditions;
}

function optionalTime(time: Date | undefined): string | undefined {
  return time === undefined ? undefined : sqlTime(time);
}

function metadataCondition(filter: MetadataFilter, parameters: SqlParameters): string {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.filters.map((part) => metadataCondition(part, parameters));
      if (parts.length === 0) return filter.kind === 'and' ? 'true' : 'false';
      return `(${parts.join(filter.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      return `(NOT ${metadataCondition(filter.filter, parameters)})`;
    case 'compare':
      return comparison(filter, parameters);
  }
}

function comparison(filter: MetadataFilter & { kind: 'compare' }, parameters: SqlParameters): string {
  const field = fieldExpression(filter.path, filter.flatKey, parameters);
  const { operator, value } = filter;
  switch (operator) {
    case 'eq':
      return equals(field, value, parameters);
    case 'ne':
      return `(NOT ${equals(field, value, parameters)})`;
    case 'in':
      return isOneOf(field, value, parameters);
    case 'nin':
      return `(NOT ${isOneOf(field, value, parameters)})`;
    case 'exists':
      return value === true ? `(${field} IS NOT NULL)` : `(${field} IS NULL)`;
    case 'contains':
      return contains(field, value, parameters);
    case 'gt':
      return ordered(field, '>', value, parameters);
    case 'gte':
      return ordered(field, '>=', value, parameters);
    case 'lt':
      return ordered(field, '<', value, parameters);
    case 'lte':
      return ordered(field, '<=', value, parameters);
  }
}

/**
 * The value under a path of keys, SQL NULL where it is missing. Steps go through objects only: `#>` would
 * also index arrays, and count negative numbers from their end.
 */
function fieldExpression(path: readonly string[], flatKey: string | null, parameters: SqlParameters): string {
  const steps = path.map((key) => ` -> ${parameters.bind(key)}::text`).join('');
  const nested = `(m.metadata${steps})`;
  if (flatKey === null) return nested;
  const flat = `${parameters.bind(flatKey)}::text`;
  return `(CASE WHEN jsonb_exists(m.metadata, ${flat}) THEN m.metadata -> ${flat} ELSE ${nested} END)`;
}

function equals(field: string, value: JsonValue, parameters: SqlParameters): string {
  return `coalesce(${field} = ${bindJson(value, parameters)}, false)`;
}

function isOneOf(field: string, values: JsonValue, parameters: SqlParameters): string {
  return `coalesce(${field} = ANY(ARRAY(SELECT jsonb_array_elements(${bindJson(values, parameters)}))), false)`;
}

/** An array that holds the value, or a string that holds the substring. */
function contains(field: string, value: JsonValue, parameters: SqlParameters): string {
  const json = bindJson(value, parameters);
  const inArray = `EXISTS (SELECT FROM jsonb_array_elements(${field}) AS item WHERE item = ${json})`;
  const inString =
    typeof value === 'string' ? `strpos(${field} #>> '{}', ${parameters.bind(value)}::text) > 0` : 'false';
  return `(CASE jsonb_typeof(${field}) WHEN 'array' THEN ${inArray} WHEN 'string' THEN ${inString} ELSE false END)`;
}

/** Numbers compare with numbers and strings with strings, by code point; everything else is false. */
function ordered(field: string, operator: string, value: JsonValue, parameters: SqlParameters): string {
  const text = `(${field} #>> '{}')`;
  if (typeof value === 'number') {
    const bound = `${parameters.bind(String(value))}::numeric`;
    return `(CASE WHEN jsonb_typeof(${field}) = 'number' THEN ${text}::numeric ${operator} ${bound} ELSE false END)`;
  }
  if (typeof value === 'string') {
    const bound = `${parameters.bind(value)}::text`;
    return `(CASE WHEN jsonb_typeof(${field}) = 'string' THEN ${text} COLLATE "C" ${operator} ${bound} ELSE false END)`;
  }
  return 'false';
}

function bindJson(value: JsonValue, parameters: SqlParameters): string {
  return `${parameters.bind(JSON.stringify(value))}::text::jsonb`;
}

import { z } from 'zod';
import { excerpt, invalidInput, PalimpsestError, withItem } from '../core/errors.ts';
import { unknownField } from './unknown-field.ts';

/**
 * Between the two forms of everything that is sent: snake_case names and ISO 8601 texts on the wire, camelCase
 * names and `Date`s in code. A schema of the contract says which names are ours: the fields of its objects are
 * renamed, the keys of its maps (metadata, timings) belong to somebody else and stay as they are.
 */

/** `'top_k'` → `'topK'`. */
export type CamelName<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelName<Tail>>}`
  : Name;

/** A decoded wire value under the names it has in code. */
export type InCamelCase<Value> = Value extends Date | string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly InCamelCase<Item>[]
    : string extends keyof Value
      ? Value
      : { readonly [Name in keyof Value as CamelName<Name & string>]: InCamelCase<Value[Name]> };

/** What a schema of an answer stands for in code. */
export type InCode<Schema extends z.ZodType> = InCamelCase<z.output<Schema>>;

export function camelName(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The wire form of an answer: exactly the schema's fields, whatever else the value has. */
export function toWire<Schema extends z.ZodType>(schema: Schema, value: InCode<Schema>): z.input<Schema> {
  return translationOf(schema).toWire(value) as z.input<Schema>;
}

/** An answer as code has it. Fields that the schema does not know, a newer server's, are kept as they came. */
export function fromWire<Schema extends z.ZodType>(schema: Schema, value: unknown): InCode<Schema> {
  return translationOf(schema).fromWire(value) as InCode<Schema>;
}

/**
 * The wire form of a request, still to be checked by its schema.
 *
 * @param what - Name of the request for errors, such as `recall`.
 * @throws PalimpsestError `invalid_input` for what is no object, for an unknown field and for an invalid date
 */
export function requestToWire(schema: z.ZodType, input: unknown, what: string): unknown {
  return objectToWire(schema, input, { what, place: '' });
}

/**
 * The wire form of a list of requests, each by the same schema. A refusal names the item.
 *
 * @param list - Name of the list, such as `memories`.
 */
export function requestsToWire(schema: z.ZodType, inputs: unknown, list: string): unknown {
  // The contract refuses what is no list.
  if (!Array.isArray(inputs)) return inputs;
  return inputs.map((input: unknown, item) => {
    const place = `${list}[${item}]`;
    try {
      return objectToWire(schema, input, { what: place, place });
    } catch (error) {
      throw PalimpsestError.isInstance(error) ? withItem(error, item) : error;
    }
  });
}

function objectToWire(
  schema: z.ZodType,
  input: unknown,
  { what, place }: { readonly what: string; readonly place: string },
): unknown {
  const translation = translationOf(schema);
  if (isObject(input)) return translation.requestToWire(input, place);
  throw invalidInput(`${what} takes an object, not ${excerpt(input)}.`, {
    ...(place === '' ? {} : { path: place }),
    got: excerpt(input),
    allowed: translation.names,
  });
}

interface Translation {
  readonly toWire: (value: unknown) => unknown;
  readonly fromWire: (value: unknown) => unknown;
  readonly requestToWire: (value: unknown, place: string) => unknown;
  /** Of an object: its fields by their names in code. */
  readonly names: string[];
}

const UNCHANGED: Translation = {
  toWire: (value) => value,
  fromWire: (value) => value,
  requestToWire: (value) => value,
  names: [],
};

const INSTANT: Translation = {
  toWire: dateToText,
  fromWire: (value) => (typeof value === 'string' ? new Date(value) : value),
  requestToWire: (value, place) => {
    if (!(value instanceof Date)) return value;
    if (!Number.isNaN(value.getTime())) return value.toISOString();
    throw invalidInput(`${place}: this date is invalid.`, {
      path: place,
      got: 'Invalid Date',
      allowed: 'a date',
    });
  },
  names: [],
};

function dateToText(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

/** Schemas are constants, so that each is looked through once. */
const known = new WeakMap<z.core.$ZodType, Translation>();

function translationOf(schema: z.core.$ZodType): Translation {
  const found = known.get(schema);
  if (found !== undefined) return found;
  const made = makeTranslation(schema);
  known.set(schema, made);
  return made;
}

function makeTranslation(schema: z.core.$ZodType): Translation {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return nullable(translationOf(schema.unwrap()));
  }
  if (schema instanceof z.ZodString) return schema.meta()?.format === 'date-time' ? INSTANT : UNCHANGED;
  // A pipe is what is sent, followed by what is made of it.
  if (schema instanceof z.ZodPipe) return translationOf(schema.in);
  if (schema instanceof z.ZodArray) return list(translationOf(schema.element));
  if (schema instanceof z.ZodObject) return object(schema);
  if (schema instanceof z.ZodUnion) return union(schema);
  return UNCHANGED;
}

function nullable(inner: Translation): Translation {
  if (inner === UNCHANGED) return UNCHANGED;
  const unlessAbsent =
    <Rest extends unknown[]>(translate: (value: unknown, ...rest: Rest) => unknown) =>
    (value: unknown, ...rest: Rest) =>
      value === null || value === undefined ? value : translate(value, ...rest);
  return {
    toWire: unlessAbsent(inner.toWire),
    fromWire: unlessAbsent(inner.fromWire),
    requestToWire: unlessAbsent(inner.requestToWire),
    names: inner.names,
  };
}

function list(item: Translation): Translation {
  if (item === UNCHANGED) return UNCHANGED;
  return {
    toWire: (value) => (Array.isArray(value) ? value.map(item.toWire) : value),
    fromWire: (value) => (Array.isArray(value) ? value.map(item.fromWire) : value),
    requestToWire: (value, place) =>
      Array.isArray(value)
        ? value.map((one: unknown, index) => item.requestToWire(one, `${place}[${index}]`))
        : value,
    names: [],
  };
}

interface Field {
  readonly inCode: string;
  readonly onWire: string;
  readonly translation: Translation;
}

function object(schema: z.ZodObject): Translation {
  const fields = Object.entries(schema.shape).map(([onWire, inner]): Field => {
    return { inCode: camelName(onWire), onWire, translation: translationOf(inner) };
  });
  const byCode = new Map(fields.map((field) => [field.inCode, field]));
  const byWire = new Map(fields.map((field) => [field.onWire, field]));
  const names = [...byCode.keys()];
  return {
    names,
    toWire: (value) => {
      if (!isObject(value)) return value;
      return Object.fromEntries(
        fields.flatMap(({ inCode, onWire, translation }) => {
          const part = value[inCode];
          return part === undefined ? [] : [[onWire, translation.toWire(part)]];
        }),
      );
    },
    fromWire: (value) => {
      if (!isObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, part]) => {
          const field = byWire.get(name);
          return field === undefined ? [name, part] : [field.inCode, field.translation.fromWire(part)];
        }),
      );
    },
    requestToWire: (value, place) => {
      if (!isObject(value)) return value;
      const entries = Object.entries(value).map(([name, part]) => {
        const path = place === '' ? name : `${place}.${name}`;
        const field = byCode.get(name);
        if (field !== undefined) return [field.onWire, field.translation.requestToWire(part, path)] as const;
        const { message, detail } = unknownField(path, name, names);
        throw invalidInput(message, detail);
      });
      return Object.fromEntries(entries.filter(([, part]) => part !== undefined));
    },
  };
}

/** Of the alternatives, the one for this kind of value, and of several objects the one it says it is. */
function union(schema: z.ZodUnion): Translation {
  const alternatives = schema.options.map((option) => ({ option, translation: translationOf(option) }));
  if (alternatives.every(({ translation }) => translation === UNCHANGED)) return UNCHANGED;
  const discriminator = schema instanceof z.ZodDiscriminatedUnion ? schema.def.discriminator : undefined;
  const fitting = (value: unknown) =>
    alternatives.find(({ option }) => accepts(option, value, discriminator))?.translation ?? UNCHANGED;
  return {
    toWire: (value) => fitting(value).toWire(value),
    fromWire: (value) => fitting(value).fromWire(value),
    requestToWire: (value, place) => fitting(value).requestToWire(value, place),
    names: [],
  };
}

function accepts(option: z.core.$ZodType, value: unknown, discriminator: string | undefined): boolean {
  if (option instanceof z.ZodPipe) return accepts(option.in, value, discriminator);
  if (option instanceof z.ZodArray) return Array.isArray(value);
  if (!(option instanceof z.ZodObject)) return !isObject(value) && !Array.isArray(value);
  if (!isObject(value)) return false;
  const literal = discriminator === undefined ? undefined : option.shape[discriminator];
  if (discriminator === undefined || !(literal instanceof z.ZodLiteral)) return true;
  // A discriminator is one word, the same in both forms.
  return [...literal.values].some((word) => word === value[discriminator]);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

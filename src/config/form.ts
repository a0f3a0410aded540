import { excerpt, type PalimpsestError } from '../core/errors.ts';
import { nearestName } from '../core/nearest-name.ts';
import { invalidConfig } from './invalid-config.ts';

/**
 * What a setting's value looks like: how it is read from a text (a variable, an option) and from the file, and what
 * errors and the documentation say of it.
 */
export interface Form<Value> {
  /** What is allowed, in words. */
  readonly allowed: string;
  /** The value of the file that a text stands for. What it stands for nothing comes back as it is, and is refused. */
  readonly fromText: (text: string) => unknown;
  /**
   * @param name where the value stands, for errors, such as `http.port` or `PALIMPSEST_PORT`
   * @throws PalimpsestError `invalid_config`
   */
  readonly read: (value: unknown, name: string) => Value;
  /** The fields of an object, for the documentation. */
  readonly fields?: Fields | undefined;
}

/** A field of an object. */
export interface Field<Value> {
  readonly form: Form<Value>;
  readonly meaning: string;
  /** The default, in words. */
  readonly standard: string;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

export function text(allowed: string, isAllowed: (value: string) => boolean = () => true): Form<string> {
  return {
    allowed,
    fromText: keep,
    read: (value, name) => {
      if (typeof value === 'string' && value !== '' && isAllowed(value)) return value;
      throw refused(name, excerpt(value), allowed);
    },
  };
}

/** A text that no error repeats. */
export function secret(allowed: string, isAllowed: (value: string) => boolean = () => true): Form<string> {
  return {
    allowed,
    fromText: keep,
    read: (value, name) => {
      if (typeof value === 'string' && value !== '' && isAllowed(value)) return value;
      throw refused(name, value === '' ? 'empty' : 'of another form', allowed);
    },
  };
}

/** Without an upper end: any from `least` on. */
export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER): Form<number> {
  const allowed =
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${least}`
      : `a whole number from ${least} to ${most}`;
  return {
    allowed,
    fromText: (value) => (/^\d{1,15}$/.test(value) ? Number(value) : value),
    read: (value, name) => {
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most)
        return value;
      throw refused(name, excerpt(value), allowed);
    },
  };
}

/** Any number of a range; without an upper end, any from `least` on. */
export function number(least: number, most?: number): Form<number> {
  const allowed = most === undefined ? `a number of at least ${least}` : `a number from ${least} to ${most}`;
  return {
    allowed,
    fromText: (value) => (/^(\d+(\.\d*)?|\.\d+)$/.test(value) ? Number(value) : value),
    read: (value, name) => {
      const isInRange =
        typeof value === 'number' && Number.isFinite(value) && value >= least && value <= (most ?? value);
      if (isInRange) return value;
      throw refused(name, excerpt(value), allowed);
    },
  };
}

export function word<const Word extends string>(words: readonly Word[]): Form<Word> {
  return {
    allowed: words.join(', '),
    fromText: keep,
    read: (value, name) => {
      const known = words.find((candidate) => candidate === value);
      if (known !== undefined) return known;
      throw refused(name, excerpt(value), words.join(', '), typeof value === 'string' ? value : '', words);
    },
  };
}

/** `on` or `off`; in the file also true or false. */
export const onOff: Form<boolean> = {
  allowed: 'on or off',
  fromText: keep,
  read: (value, name) => {
    if (value === 'on' || value === true) return true;
    if (value === 'off' || value === false) return false;
    throw refused(name, excerpt(value), 'on or off');
  },
};

/** True or false, as a field of an object. */
export const flag: Form<boolean> = {
  allowed: 'true or false',
  fromText: keep,
  read: (value, name) => {
    if (typeof value === 'boolean') return value;
    throw refused(name, excerpt(value), 'true or false');
  },
};

/** A list of texts; as a text with commas between them. */
export function list(item: Form<string>): Form<readonly string[]> {
  const allowed = `a list: ${item.allowed}`;
  return {
    allowed,
    fromText: (value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    read: (value, name) => {
      if (Array.isArray(value)) return value.map((part: unknown) => item.read(part, name));
      throw refused(name, excerpt(value), allowed);
    },
  };
}

/** A text of a form of its own. */
export function parsed<Value>(allowed: string, parse: (value: string) => Value | undefined): Form<Value> {
  return {
    allowed,
    fromText: keep,
    read: (value, name) => {
      // A number is written as one in the file.
      const given = typeof value === 'number' ? String(value) : value;
      const found = typeof given === 'string' ? parse(given) : undefined;
      if (found !== undefined) return found;
      throw refused(name, excerpt(value), allowed);
    },
  };
}

/** An object whose fields have forms of their own; each is written snake_case and read into its camelCase name. */
export function object(fields: Fields, required: readonly string[] = []): Form<Record<string, unknown>> {
  const known = Object.keys(fields);
  const allowed =
    required.length === 0 ? 'a JSON object' : `a JSON object with the field ${required.join(', ')}`;
  return {
    allowed,
    fields,
    fromText: parsedJson,
    read: (value, name) => {
      if (!isObject(value)) throw refused(name, kindOf(value), allowed);
      const missing = required.find((field) => !Object.hasOwn(value, field));
      if (missing !== undefined)
        throw refused(`${name}.${missing}`, 'missing', fields[missing]?.form.allowed ?? '');
      return Object.fromEntries(
        Object.entries(value).map(([field, inner]) => {
          const definition = Object.hasOwn(fields, field) ? fields[field] : undefined;
          if (definition === undefined) throw unknownKey(`${name}.${field}`, field, known);
          return [camelCase(field), definition.form.read(inner, `${name}.${field}`)];
        }),
      );
    },
  };
}

/** An object of anything that `isAllowed` takes. */
export function json<Value extends object>(
  allowed: string,
  isAllowed: (value: object) => value is Value,
): Form<Value> {
  return {
    allowed,
    fromText: parsedJson,
    read: (value, name) => {
      if (isObject(value) && isAllowed(value)) return value;
      throw refused(name, kindOf(value), allowed);
    },
  };
}

/** A key that nobody reads would be taken for one that counts. */
export function unknownKey(name: string, got: string, known: readonly string[]): PalimpsestError {
  const nearest = nearestName(got, known);
  return invalidConfig(
    `${name} is unknown.`,
    got,
    [...known],
    nearest === null ? undefined : `Did you mean ${nearest}?`,
  );
}

/** A text where an object belongs is not repeated: often it is the key that the object should say the place of. */
function kindOf(value: unknown): string {
  return typeof value === 'string' ? 'a text' : excerpt(value);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(
  name: string,
  got: string,
  allowed: string,
  misspelt = '',
  words: readonly string[] = [],
): PalimpsestError {
  const nearest = misspelt === '' ? null : nearestName(misspelt, words);
  return invalidConfig(
    `${name} is ${got}; allowed: ${allowed}.`,
    got,
    words.length === 0 ? allowed : [...words],
    nearest === null ? undefined : `Did you mean ${nearest}?`,
  );
}

function keep(value: string): string {
  return value;
}

function parsedJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return value;
  }
}

/** `on_429` is `on429`. */
function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

import { unknownField } from '../contract/unknown-field.ts';
import { excerpt, invalidInput, PalimpsestError } from '../core/errors.ts';

/**
 * Turns the library's camelCase inputs into the contract's wire form, so that one contract checks both. Only
 * the names of known fields change: metadata is passed on as it is.
 */

type Convert = (value: unknown, place: string) => unknown;

/** Fields of an input: its name in the library, its name on the wire, and what happens to its value. */
type Fields = Readonly<Record<string, readonly [wireName: string, convert?: Convert]>>;

const instant: Convert = (value, place) => {
  if (!(value instanceof Date)) return value;
  if (!Number.isNaN(value.getTime())) return value.toISOString();
  throw invalidInput(`${place}: this date is invalid.`, {
    path: place,
    got: 'Invalid Date',
    allowed: 'a date',
  });
};

const ENTRY_FIELDS: Fields = {
  content: ['content'],
  type: ['type'],
  metadata: ['metadata'],
  tags: ['tags'],
  source: ['source'],
  importance: ['importance'],
  observedAt: ['observed_at', instant],
  expiresAt: ['expires_at', instant],
};

const range: Convert = (value, place) =>
  isObject(value) ? renamed(value, { from: ['from', instant], until: ['until', instant] }, place) : value;

const filter: Convert = (value, place) =>
  isObject(value)
    ? renamed(
        value,
        {
          type: ['type'],
          tags: ['tags'],
          status: ['status'],
          observedAt: ['observed_at', range],
          metadata: ['metadata'],
        },
        place,
      )
    : value;

const SCOPE_FIELDS: Fields = { namespaces: ['namespaces'], filter: ['filter', filter] };

/** The inputs of the library's methods. */
export const INPUT_FIELDS = {
  remember: { namespace: ['namespace'], ...ENTRY_FIELDS },
  update: ENTRY_FIELDS,
  updateOptions: { ifVersion: ['if_version'] },
  existingSuccessor: { id: ['id'] },
  recall: {
    query: ['query'],
    ...SCOPE_FIELDS,
    profile: ['profile'],
    topK: ['top_k'],
    minScore: ['min_score'],
    relativeCutoff: ['relative_cutoff'],
  },
  list: { ...SCOPE_FIELDS, lifecycle: ['lifecycle'], text: ['text'], limit: ['limit'], cursor: ['cursor'] },
  exportEntries: { ...SCOPE_FIELDS, lifecycle: ['lifecycle'] },
  feedback: { memoryId: ['memory_id'], traceId: ['trace_id'], signal: ['signal'] },
  rule: {
    pattern: ['pattern'],
    bonus: ['bonus'],
    description: ['description'],
    instructionTemplate: ['instruction_template'],
  },
} as const satisfies Record<string, Fields>;

/**
 * The wire form of a method's input.
 *
 * @throws PalimpsestError `invalid_input` for what is no object, and for an unknown field
 */
export function toWire(method: keyof typeof INPUT_FIELDS, input: unknown): Record<string, unknown> {
  return wireObject(method, input, '');
}

/** The wire form of a batch. A refusal names the item. */
export function toWireBatch(inputs: unknown): Record<string, unknown> {
  // The contract refuses what is no list.
  if (!Array.isArray(inputs)) return { memories: inputs };
  const memories = inputs.map((input: unknown, item) => {
    try {
      return wireObject('remember', input, `memories[${item}]`);
    } catch (error) {
      if (!PalimpsestError.isInstance(error)) throw error;
      const details = error.details.map((detail) => ({ ...detail, item }));
      throw new PalimpsestError(error.code, error.message, { details, cause: error.cause });
    }
  });
  return { memories };
}

function wireObject(
  method: keyof typeof INPUT_FIELDS,
  input: unknown,
  place: string,
): Record<string, unknown> {
  if (isObject(input)) return renamed(input, INPUT_FIELDS[method], place);
  throw invalidInput(`${place === '' ? method : place} takes an object, not ${excerpt(input)}.`, {
    ...(place === '' ? {} : { path: place }),
    got: excerpt(input),
    allowed: Object.keys(INPUT_FIELDS[method]),
  });
}

function renamed(input: object, fields: Fields, place: string): Record<string, unknown> {
  const entries = Object.entries(input).map(([name, value]) => {
    const path = place === '' ? name : `${place}.${name}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      const { message, detail } = unknownField(path, name, Object.keys(fields));
      throw invalidInput(message, detail);
    }
    const [wireName, convert] = field;
    return [wireName, convert === undefined ? value : convert(value, path)] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Runs what speaks in the wire's names, and puts the names the library has for them into its refusals. Names
 * inside metadata are the caller's own and stay.
 */
export async function inLibraryNames<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw renamedError(error);
  }
}

function renamedError(error: unknown): unknown {
  if (!PalimpsestError.isInstance(error)) return error;
  const renames = error.details.flatMap(({ path }) => {
    const renamedPath = path === undefined ? undefined : libraryPath(path);
    return path === undefined || renamedPath === undefined || renamedPath === path
      ? []
      : [[path, renamedPath] as const];
  });
  if (renames.length === 0) return error;
  const names = new Map(renames);
  return new PalimpsestError(
    error.code,
    renames.reduce((message, [wire, library]) => message.replace(wire, library), error.message),
    {
      details: error.details.map((detail) => {
        const path = detail.path === undefined ? undefined : (names.get(detail.path) ?? detail.path);
        return { ...detail, path };
      }),
      cause: error.cause,
    },
  );
}

function libraryPath(path: string): string {
  const [own = '', ...ofMetadata] = path.split(/(?=\bmetadata\b)/);
  return own.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) + ofMetadata.join('');
}

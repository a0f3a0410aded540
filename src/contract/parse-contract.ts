import { z } from 'zod';
import { type ErrorDetail, excerpt, PalimpsestError } from '../core/errors.ts';
import type { RuleIssueParams } from './by-rule.ts';
import { fieldPath } from './field-path.ts';
import { unknownField } from './unknown-field.ts';

/** More faults than this of one request help nobody. */
const MAX_REPORTED_FAULTS = 20;

interface Fault {
  readonly message: string;
  readonly detail: ErrorDetail;
}

export interface ParseContractOptions {
  /** Name of the list whose items are named by their position in errors, such as `memories`. */
  readonly itemsOf?: string | undefined;
}

/**
 * Reads what a caller sent by one of the contract's schemas.
 *
 * @throws PalimpsestError `invalid_input` that names every field at fault (up to 20), what was got and what is
 *   allowed.
 */
export function parseContract<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  options: ParseContractOptions = {},
): Output {
  const knownFields = new Map<readonly PropertyKey[], readonly string[]>();
  const result = schema.safeParse(value, {
    reportInput: true,
    error: (issue) => {
      // The only place where an issue still knows the object schema that raised it.
      if (issue.code === 'unrecognized_keys' && issue.inst instanceof z.ZodObject) {
        knownFields.set(issue.keys, Object.keys(issue.inst.shape));
      }
      return undefined;
    },
  });
  if (result.success) return result.data;
  const faults = result.error.issues
    .flatMap((issue) => {
      const item = itemOf(issue, options.itemsOf);
      return faultsOf(issue, { knownFields, item }, []).map((fault) => withItem(fault, item));
    })
    .slice(0, MAX_REPORTED_FAULTS);
  throw new PalimpsestError('invalid_input', faults[0]?.message ?? 'The request is not valid.', {
    details: faults.map((fault) => fault.detail),
  });
}

type Issue = z.core.$ZodIssue;

/** The list and position of a batch item at fault. */
interface Item {
  readonly list: string;
  readonly position: number;
}

interface IssueContext {
  readonly knownFields: ReadonlyMap<readonly PropertyKey[], readonly string[]>;
  readonly item: Item | null;
}

function itemOf(issue: Issue, list: string | undefined): Item | null {
  const [first, position] = issue.path;
  return list !== undefined && first === list && typeof position === 'number' ? { list, position } : null;
}

function withItem(fault: Fault, item: Item | null): Fault {
  return item === null ? fault : { ...fault, detail: { ...fault.detail, item: item.position } };
}

function faultsOf(issue: Issue, context: IssueContext, parents: readonly PropertyKey[]): Fault[] {
  const steps = [...parents, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) =>
        unknownField(fieldPath([...steps, key]), key, context.knownFields.get(issue.keys) ?? []),
      );
    case 'custom':
      return [ruleFault(issue, steps, context.item)];
    case 'invalid_union':
      return unionFaults(issue, context, steps);
    case 'invalid_type':
      return [plainFault(steps, issue.input, 'it is the wrong kind of value', kindName(issue.expected))];
    case 'invalid_value':
      return [plainFault(steps, issue.input, 'it is not one of these', issue.values.map(String).join(', '))];
    case 'too_small':
      return [plainFault(steps, issue.input, 'it is too small', `at least ${issue.minimum}`)];
    case 'too_big':
      return [plainFault(steps, issue.input, 'it is too large', `at most ${issue.maximum}`)];
    default:
      return [plainFault(steps, issue.input, issue.message, undefined)];
  }
}

/** A rule of the core names the field from the item's root; only the item's own place is missing. */
function ruleFault(issue: z.core.$ZodIssueCustom, steps: readonly PropertyKey[], item: Item | null): Fault {
  const detail = (issue.params as RuleIssueParams | undefined)?.detail ?? {};
  const prefix = item === null ? '' : `${fieldPath([item.list, item.position])}.`;
  return {
    message: `${prefix}${issue.message}`,
    detail: { ...detail, path: `${prefix}${detail.path ?? fieldPath(steps)}` },
  };
}

/** The faults of the alternative that was meant: the one that accepts this kind of value at all. */
function unionFaults(
  issue: z.core.$ZodIssueInvalidUnion,
  context: IssueContext,
  steps: readonly PropertyKey[],
): Fault[] {
  const isOtherKind = (inner: Issue) => inner.code === 'invalid_type' && inner.path.length === 0;
  const meant = issue.errors.find((alternative) => !alternative.some(isOtherKind));
  if (meant !== undefined) return meant.flatMap((inner) => faultsOf(inner, context, steps));
  const kinds = issue.errors
    .flat()
    .map((inner) => (inner.code === 'invalid_type' ? kindName(inner.expected) : ''));
  const allowed = kinds.filter((kind) => kind !== '').join(' or ');
  return [plainFault(steps, issue.input, 'it is the wrong kind of value', allowed)];
}

function plainFault(
  steps: readonly PropertyKey[],
  input: unknown,
  fault: string,
  allowed: string | undefined,
): Fault {
  const path = fieldPath(steps);
  const name = path === '' ? 'The request' : path;
  const said = input === undefined ? 'it is missing' : `${fault}. Got ${excerpt(input)}`;
  const allowedPart = allowed === undefined ? '' : `; allowed: ${allowed}`;
  return {
    message: `${name}: ${said}${allowedPart}.`,
    detail: {
      ...(path === '' ? {} : { path }),
      got: input === undefined ? null : excerpt(input),
      ...(allowed === undefined ? {} : { allowed }),
    },
  };
}

const KIND_NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function kindName(expected: string): string {
  return KIND_NAMES[expected] ?? expected;
}

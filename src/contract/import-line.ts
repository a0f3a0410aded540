import { z } from 'zod';
import { MAX_CONTENT_BYTES, MAX_SOURCE_LENGTH } from '../core/defaults.ts';
import { checkMetadata, checkWord, isBlank } from '../core/entry.ts';
import { invalidInput, type PalimpsestError } from '../core/errors.ts';
import { splitContent } from '../core/split-content.ts';
import type { JsonObject, MemoryDraft, MemorySource } from '../core/types.ts';
import { byRule } from './by-rule.ts';
import { draftShape, toMemoryDraft } from './memory-draft.ts';
import { wireEntrySchema } from './memory-entry.ts';
import { parseContract } from './parse-contract.ts';

/**
 * What an exported entry says beyond a draft. An import takes it and leaves it: a new store makes its own ids
 * and times, and whether somebody confirmed a text can't be asserted by a file.
 */
const UNIMPORTED_SHAPE = Object.fromEntries(
  Object.keys(wireEntrySchema.shape)
    .filter((name) => !Object.hasOwn(draftShape, name) && name !== 'id')
    .map((name) => [name, z.unknown().optional()]),
);

const importLineShape = {
  ...UNIMPORTED_SHAPE,
  ...draftShape,
  id: z.union([z.string(), z.number()]).optional(),
  speaker: z.string().nullish(),
};

export const importLineSchema = z.strictObject(importLineShape).transform(byRule(toImportedDraft, 'id'));

function toImportedDraft(line: z.output<z.ZodObject<typeof importLineShape>>): MemoryDraft {
  const { id, speaker, ...fields } = line;
  const draft = toMemoryDraft(fields);
  return { ...draft, source: sourceOf(fields.source, id), metadata: withSpeaker(draft.metadata, speaker) };
}

/** A line that names its source, be it none, keeps it: so an exported entry comes back as it was. */
function sourceOf(
  source: MemorySource | null | undefined,
  id: string | number | undefined,
): MemorySource | undefined {
  if (source !== undefined) return source ?? undefined;
  return id === undefined
    ? undefined
    : { kind: 'import', ref: checkWord(String(id), 'id', MAX_SOURCE_LENGTH) };
}

function withSpeaker(
  metadata: JsonObject | undefined,
  speaker: string | null | undefined,
): JsonObject | undefined {
  if (speaker === undefined || speaker === null || Object.hasOwn(metadata ?? {}, 'speaker')) return metadata;
  return checkMetadata({ ...metadata, speaker });
}

/**
 * Reads one line of an import: an exported entry, or `{id, namespace, content, observed_at, speaker, metadata}`
 * as data sets have it. The line's `id` becomes its source's `ref`, `speaker` becomes `metadata.speaker`.
 *
 * A content longer than an entry can hold becomes several drafts, in order, with `part` (a list where equal parts
 * stand in several places) and `parts` in their metadata: a file made elsewhere knows nothing of our limit, and neither a cut text nor a lost line is what
 * its owner wants.
 *
 * @param defaultNamespace - For lines that name none.
 * @throws PalimpsestError `invalid_input`
 */
export function parseImportLine(value: unknown, defaultNamespace: string | undefined): MemoryDraft[] {
  if (!isObject(value)) return [parseContract(importLineSchema, value)];
  const line = { ...(defaultNamespace === undefined ? {} : { namespace: defaultNamespace }), ...value };
  if (!Object.hasOwn(line, 'namespace')) throw homeless();
  const { content } = value;
  if (typeof content !== 'string' || content.length * 3 <= MAX_CONTENT_BYTES) {
    return [parseContract(importLineSchema, line)];
  }
  const contents = splitContent(content);
  if (contents.length <= 1 || isBlank(content)) return [parseContract(importLineSchema, line)];
  return [...placesByContent(contents)].map(([part, places]) => {
    const draft = parseContract(importLineSchema, { ...line, content: part });
    const [first] = places;
    return {
      ...draft,
      metadata: checkMetadata({
        ...draft.metadata,
        part: places.length === 1 ? (first ?? 1) : places,
        parts: contents.length,
      }),
    };
  });
}

function homeless(): PalimpsestError {
  return invalidInput('namespace: it is missing; allowed: a text.', {
    path: 'namespace',
    got: null,
    allowed: 'a text',
    hint: 'Give each line a namespace, or name one for all lines that have none.',
  });
}

/** Where each part stands, from 1. Equal parts are one entry with several places; blank ones hold nothing to find. */
function placesByContent(contents: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [index, part] of contents.entries()) {
    if (isBlank(part)) continue;
    places.set(part, [...(places.get(part) ?? []), index + 1]);
  }
  return places;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { z } from 'zod';
import { MAX_SOURCE_LENGTH } from '../core/defaults.ts';
import { checkMetadata, checkWord } from '../core/entry.ts';
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

const importLineSchema = z.strictObject(importLineShape).transform(byRule(toImportedDraft, 'id'));

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
 * @param defaultNamespace - For lines that name none.
 * @throws PalimpsestError `invalid_input`
 */
export function parseImportLine(value: unknown, defaultNamespace: string | undefined): MemoryDraft {
  const isWithout = defaultNamespace !== undefined && isObject(value) && !Object.hasOwn(value, 'namespace');
  return parseContract(importLineSchema, isWithout ? { ...value, namespace: defaultNamespace } : value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

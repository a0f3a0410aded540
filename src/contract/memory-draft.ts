import { z } from 'zod';
import { MAX_BATCH_SIZE } from '../core/defaults.ts';
import { invalidInput } from '../core/errors.ts';
import type { MemoryDraft, UnplacedDraft } from '../core/types.ts';
import { byRule } from './by-rule.ts';
import {
  contentField,
  expiresAtField,
  importanceField,
  metadataField,
  namespaceField,
  observedAtField,
  sourceField,
  tagsField,
  typeField,
} from './fields.ts';

/**
 * What an entry says, wherever it is stored. `null` says the same as leaving it out, so that an entry's own wire form
 * can be sent again.
 */
export const contentShape = {
  content: contentField,
  type: typeField.optional(),
  metadata: metadataField.optional(),
  tags: tagsField.optional(),
  source: sourceField.nullish(),
  importance: importanceField.optional(),
  observed_at: observedAtField.nullish(),
  expires_at: expiresAtField.nullish(),
};

export const draftShape = { namespace: namespaceField, ...contentShape };

/** What a caller sends to store one entry. */
export const memoryDraftSchema = z.strictObject(draftShape).transform(toMemoryDraft);

export const unplacedShape = { ...draftShape, namespace: namespaceField.optional() };

/** The same where a policy may say where memories go that name no namespace. */
export const unplacedDraftSchema = z.strictObject(unplacedShape).transform(toUnplacedDraft);

/** The same where the host says where to, and the sender may not. */
export const contentDraftSchema = z.strictObject(contentShape).transform(toUnplacedDraft);

/** What the drafts' fields are after their own rules. */
type UnplacedFields = z.output<z.ZodObject<typeof unplacedShape>>;
type DraftFields = z.output<z.ZodObject<typeof draftShape>>;

export function toMemoryDraft(fields: DraftFields): MemoryDraft {
  return { ...toUnplacedDraft(fields), namespace: fields.namespace };
}

function toUnplacedDraft(fields: UnplacedFields): UnplacedDraft {
  return {
    namespace: fields.namespace,
    content: fields.content,
    type: fields.type,
    metadata: fields.metadata,
    tags: fields.tags,
    source: fields.source ?? undefined,
    importance: fields.importance,
    observedAt: fields.observed_at ?? undefined,
    expiresAt: fields.expires_at ?? undefined,
  };
}

/** Several drafts that are stored together or not at all. */
export const memoryBatchSchema = batchOf(memoryDraftSchema);
export const unplacedBatchSchema = batchOf(unplacedDraftSchema);

function batchOf<Draft extends z.ZodType>(draft: Draft) {
  return z.strictObject({
    memories: z
      .array(draft)
      .meta({ minItems: 1, maxItems: MAX_BATCH_SIZE })
      .transform(byRule(checkBatch<z.output<Draft>>, 'memories')),
  });
}

function checkBatch<Draft>(drafts: readonly Draft[], field: string): readonly Draft[] {
  if (drafts.length >= 1 && drafts.length <= MAX_BATCH_SIZE) return drafts;
  throw invalidInput(`${field}: a batch holds 1 to ${MAX_BATCH_SIZE} entries, not ${drafts.length}.`, {
    path: field,
    got: drafts.length,
    allowed: `1 to ${MAX_BATCH_SIZE} entries`,
  });
}

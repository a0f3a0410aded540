import { z } from 'zod';
import { invalidInput } from '../core/errors.ts';
import type { MemoryPatch } from '../core/types.ts';
import { byRule } from './by-rule.ts';
import {
  contentField,
  expiresAtField,
  importanceField,
  metadataField,
  observedAtField,
  sourceField,
  tagsField,
  typeField,
} from './fields.ts';

export const patchShape = {
  content: contentField.optional(),
  type: typeField.optional(),
  metadata: metadataField.optional(),
  tags: tagsField.optional(),
  source: sourceField.nullish(),
  importance: importanceField.optional(),
  observed_at: observedAtField.nullish(),
  expires_at: expiresAtField.nullish(),
};

/** What a caller sends to change an entry: absent leaves a field alone, `null` clears it. */
export const memoryPatchSchema = z
  .strictObject(patchShape)
  .transform(toMemoryPatch)
  .transform(byRule(checkPatch, 'patch'));

function toMemoryPatch(fields: z.output<z.ZodObject<typeof patchShape>>): MemoryPatch {
  const { observed_at: observedAt, expires_at: expiresAt, ...same } = fields;
  return { ...same, observedAt, expiresAt };
}

function checkPatch(patch: MemoryPatch): MemoryPatch {
  if (Object.values(patch).some((value) => value !== undefined)) return patch;
  throw invalidInput(
    `The update changes nothing. Send at least one of ${Object.keys(patchShape).join(', ')}.`,
    {
      allowed: Object.keys(patchShape),
    },
  );
}

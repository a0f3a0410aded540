import { z } from 'zod';
import { MAX_SCOPE_PATTERNS, MAX_TAG_LENGTH, MAX_TAGS, MAX_TYPE_LENGTH } from '../core/defaults.ts';
import {
  checkContent,
  checkImportance,
  checkMetadata,
  checkQueryText,
  checkSource,
  checkTags,
  checkType,
} from '../core/entry.ts';
import { parseNamespacePath, parseScope } from '../core/namespace.ts';
import { byRule } from './by-rule.ts';
import { parseInstant } from './instant.ts';

/** The fields that several requests share, in wire form. The core owns each rule; zod carries its shape. */

export const namespaceField = z
  .string()
  .meta({ description: 'Dotted path of 1 to 16 segments.', example: 'vector.user.local.notes' })
  .transform(byRule(parseNamespacePath, 'namespace'));

export const contentField = z
  .string()
  .meta({ description: 'The text to remember: not blank, at most 64 KiB of UTF-8.', minLength: 1 })
  .transform(byRule(checkContent, 'content'));

export const typeField = z
  .string()
  .meta({
    description: 'Free word; conventional: decision, preference, fact, episode, procedure, note.',
    minLength: 1,
    maxLength: MAX_TYPE_LENGTH,
    example: 'preference',
  })
  .transform(byRule(checkType, 'type'));

export const metadataField = z
  .unknown()
  .meta({ type: 'object', additionalProperties: true, description: 'Any JSON object, at most 64 KiB.' })
  .transform(byRule(checkMetadata, 'metadata'));

export const tagsField = z
  .array(z.string().meta({ minLength: 1, maxLength: MAX_TAG_LENGTH }))
  .meta({ maxItems: MAX_TAGS })
  .transform(byRule(checkTags, 'tags'));

export const sourceField = z
  .strictObject({
    kind: z.string().meta({ description: 'chat, run, file, tool, import, user or a word of your own.' }),
    ref: z.string().nullish().meta({ description: 'Identifier inside that kind, such as a chat id.' }),
  })
  .transform(({ kind, ref }) => (ref === undefined || ref === null ? { kind } : { kind, ref }))
  .transform(byRule(checkSource, 'source'));

export const importanceField = z
  .number()
  .meta({ minimum: 0, maximum: 1, description: 'Weight of the entry, kept exactly. Default 0.5.' })
  .transform(byRule(checkImportance, 'importance'));

/** A point in time under the given name. */
export function instantField(field: string, description: string) {
  return z
    .string()
    .meta({ format: 'date-time', description, example: '2026-05-02T09:30:00Z' })
    .transform(byRule(parseInstant, field));
}

export const observedAtField = instantField('observed_at', 'When the fact was true or seen.');
export const expiresAtField = instantField('expires_at', 'When the entry stops being found.');

export const queryField = z
  .string()
  .meta({ description: 'What to look for. Leave it out to browse.', example: 'Which database did we pick?' })
  .transform(byRule(checkQueryText, 'query'));

/** Namespaces or patterns to read. Absent: everything the asker may read. */
export const namespacesField = z
  .array(z.string())
  .meta({
    minItems: 1,
    maxItems: MAX_SCOPE_PATTERNS,
    description:
      'Paths (that namespace alone) or patterns (`p.*` is all below p). Leave it out for everything you may read.',
    example: ['vector.user.local.*', 'vector.global.*'],
  })
  .transform(byRule(parseScope, 'namespaces'));

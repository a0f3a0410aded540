import { z } from 'zod';
import { KEY_SCOPES } from '../core/governance.ts';
import { instantField } from './fields.ts';
import { wireInstant } from './wire-instant.ts';

const scopes = z.array(z.enum(KEY_SCOPES)).meta({
  description:
    'What the key may be used for. Each stands for itself: admin governs the tenant and reads no memories.',
  example: ['read', 'write', 'feedback'],
});

/** What an administrator sends to make a key. */
export const keyDraftSchema = z
  .strictObject({
    user_id: z.string().meta({
      description: 'The user who asks when this key is used: one segment of a namespace.',
      example: 'ada',
    }),
    name: z.string().meta({ minLength: 1, maxLength: 128, example: "Ada's notebook" }),
    scopes,
    expires_at: instantField('expires_at', 'When the key stops working. Default: never.').nullish(),
  })
  .transform(({ user_id: userId, expires_at: expiresAt, ...same }) => ({
    ...same,
    userId,
    expiresAt: expiresAt ?? undefined,
  }));

export const wireKeySchema = z
  .strictObject({
    id: z.string().meta({ format: 'uuid' }),
    tenant_id: z.string(),
    user_id: z.string(),
    name: z.string(),
    prefix: z.string().meta({ description: 'First characters of the key, to recognise it by.' }),
    scopes,
    created_at: wireInstant,
    created_by: z.string(),
    expires_at: wireInstant.nullable(),
    revoked_at: wireInstant.nullable(),
    last_used_at: wireInstant.nullable().meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'ApiKey' });

export const wireNewKeySchema = z
  .strictObject({
    key: wireKeySchema,
    secret: z.string().meta({ description: 'The whole key, as its holder sends it. Shown this once.' }),
  })
  .meta({ id: 'NewApiKey' });

export const wireKeyListSchema = z.strictObject({ keys: z.array(wireKeySchema) }).meta({ id: 'ApiKeyList' });

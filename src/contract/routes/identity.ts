import { z } from 'zod';
import { keyDraftSchema, wireKeyListSchema, wireKeySchema, wireNewKeySchema } from '../api-key.ts';
import { userSettingsSchema, wireUserSchema, wireUserSettingsSchema } from '../user-settings.ts';
import { defineRoute } from './route.ts';

const KEYS = 'Keys';
const USERS = 'Users';

export const identityRoutes = {
  createKey: defineRoute({
    method: 'POST',
    path: '/v1/keys',
    scope: 'admin',
    tag: KEYS,
    summary: 'Make an API key',
    description: 'Its secret is in this answer and nowhere else; the server keeps a hash.',
    body: keyDraftSchema,
    answers: { 201: 'The key and its secret.' },
    answer: wireNewKeySchema,
    // Not idempotent by key: the kept answer would hold the secret.
    errors: [],
    example: { body: { user_id: 'ada', name: "Ada's notebook", scopes: ['read', 'write', 'feedback'] } },
  }),
  listKeys: defineRoute({
    method: 'GET',
    path: '/v1/keys',
    scope: null,
    tag: KEYS,
    summary: 'List API keys',
    description: "An administrator sees the tenant's, everybody else their own. Never a secret.",
    answers: { 200: 'The keys.' },
    answer: wireKeyListSchema,
    errors: [],
  }),
  revokeKey: defineRoute({
    method: 'DELETE',
    path: '/v1/keys/{id}',
    scope: null,
    tag: KEYS,
    summary: 'Revoke an API key',
    description: 'An administrator any of the tenant, everybody else their own. It stays in the list.',
    params: z.strictObject({ id: z.string().meta({ description: 'Id of a key.' }) }),
    answers: { 200: 'The key, revoked.' },
    answer: wireKeySchema,
    takesIdempotencyKey: true,
    errors: ['not_found', 'conflict'],
    example: { params: { id: '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f' } },
  }),
  getMe: defineRoute({
    method: 'GET',
    path: '/v1/users/me',
    scope: 'read',
    tag: USERS,
    summary: 'See who the server takes you for',
    answers: { 200: 'The user, what the credential may be used for, and the settings.' },
    answer: wireUserSchema,
    errors: [],
  }),
  putMySettings: defineRoute({
    method: 'PUT',
    path: '/v1/users/me/settings',
    scope: 'write',
    tag: USERS,
    summary: 'Decide whether administrators may read your private namespaces',
    body: userSettingsSchema,
    answers: { 200: 'The settings.' },
    answer: wireUserSettingsSchema,
    takesIdempotencyKey: true,
    errors: ['conflict'],
    example: { body: { allow_admin_memory: false } },
  }),
};

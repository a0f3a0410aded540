import { z } from 'zod';
import { wireHistorySchema } from '../history.ts';
import { wireListPageSchema } from '../list-page.ts';
import { listQuerySchema } from '../list-request.ts';
import { unplacedBatchSchema, unplacedDraftSchema } from '../memory-draft.ts';
import { wireEntrySchema } from '../memory-entry.ts';
import { memoryPatchSchema } from '../memory-patch.ts';
import { supersedeRequestSchema, wireSupersedeResultSchema } from '../supersede.ts';
import { wireBatchResultSchema, wireWriteResultSchema } from '../write-result.ts';
import { defineRoute } from './route.ts';

/** 500 entries of a long page each. */
const BATCH_BODY_LIMIT = 64 * 1024 * 1024;

const TAG = 'Memories';
const DRAFT_EXAMPLE = {
  namespace: 'vector.user.ada.notes',
  content: 'Ada prefers tea over coffee.',
  type: 'preference',
  tags: ['drinks'],
  importance: 0.8,
};
const EXAMPLE_ID = '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f';

export const memoryParams = z.strictObject({ id: z.string().meta({ description: 'Id of an entry.' }) });

export const memoryRoutes = {
  createMemory: defineRoute({
    method: 'POST',
    path: '/v1/memories',
    scope: 'write',
    tag: TAG,
    summary: 'Store an entry',
    description:
      'Content that a live entry of the same namespace holds refreshes that entry: its id and created_at stay, updated_at is now, tags and metadata are merged.',
    body: unplacedDraftSchema,
    answers: { 201: 'A new entry.', 200: 'The live entry of the same content, refreshed.' },
    answer: wireWriteResultSchema,
    hasEtag: true,
    takesIfNoneMatch: true,
    takesIdempotencyKey: true,
    errors: ['conflict', 'precondition_failed', 'embedding_failed'],
    example: { body: DRAFT_EXAMPLE },
  }),
  createMemories: defineRoute({
    method: 'POST',
    path: '/v1/memories/batch',
    scope: 'write',
    tag: TAG,
    summary: 'Store several entries, all or none',
    description: 'A refusal names the item at fault, and nothing is stored.',
    body: unplacedBatchSchema,
    bodyLimit: BATCH_BODY_LIMIT,
    answers: { 200: 'What became of each, in the order sent.' },
    answer: wireBatchResultSchema,
    takesIfNoneMatch: true,
    takesIdempotencyKey: true,
    errors: ['conflict', 'precondition_failed', 'embedding_failed'],
    example: { body: { memories: [DRAFT_EXAMPLE] } },
  }),
  listMemories: defineRoute({
    method: 'GET',
    path: '/v1/memories',
    scope: 'read',
    tag: TAG,
    summary: 'List entries, newest first',
    description:
      'By created_at, then by id. The cursor is a place in that order: ties, inserts and deletes between two pages neither repeat nor skip an entry.',
    query: listQuerySchema,
    answers: { 200: 'A page of entries.' },
    answer: wireListPageSchema,
    errors: [],
    example: { query: 'namespace=vector.user.ada.*&type=preference&limit=20' },
  }),
  getMemory: defineRoute({
    method: 'GET',
    path: '/v1/memories/{id}',
    scope: 'read',
    tag: TAG,
    summary: 'Read an entry',
    description: 'Whatever has become of it: lifecycle says whether it is superseded, expired or deleted.',
    params: memoryParams,
    answers: { 200: 'The entry.' },
    answer: wireEntrySchema,
    hasEtag: true,
    errors: ['not_found'],
    example: { params: { id: EXAMPLE_ID } },
  }),
  updateMemory: defineRoute({
    method: 'PATCH',
    path: '/v1/memories/{id}',
    scope: 'write',
    tag: TAG,
    summary: 'Change an entry',
    description:
      'What is left out stays, null clears. New content is embedded again, renews updated_at and clears a confirmation; nothing else does.',
    params: memoryParams,
    body: memoryPatchSchema,
    answers: { 200: 'The entry as it is now.' },
    answer: wireEntrySchema,
    hasEtag: true,
    takesIfMatch: true,
    takesIdempotencyKey: true,
    errors: ['not_found', 'conflict', 'precondition_failed', 'embedding_failed'],
    example: { params: { id: EXAMPLE_ID }, body: { importance: 1, expires_at: null } },
  }),
  forgetMemory: defineRoute({
    method: 'DELETE',
    path: '/v1/memories/{id}',
    scope: 'write',
    tag: TAG,
    summary: 'Forget an entry',
    description: 'A soft delete: no search finds it, restore brings it back.',
    params: memoryParams,
    answers: { 200: 'The entry, deleted.' },
    answer: wireEntrySchema,
    hasEtag: true,
    takesIdempotencyKey: true,
    errors: ['not_found', 'conflict'],
    example: { params: { id: EXAMPLE_ID } },
  }),
  restoreMemory: changeOf('restore', {
    summary: 'Undo forgetting an entry',
    description: 'Refused while a live entry of its namespace holds the same content.',
    answers: { 200: 'The entry, back.' },
  }),
  purgeMemory: defineRoute({
    method: 'POST',
    path: '/v1/memories/{id}/purge',
    scope: 'write',
    tag: TAG,
    summary: 'Remove an entry from disk',
    description: 'With its embeddings, for good.',
    params: memoryParams,
    answers: { 204: 'It is gone.' },
    takesIdempotencyKey: true,
    errors: ['not_found', 'conflict'],
    example: { params: { id: EXAMPLE_ID } },
  }),
  confirmMemory: changeOf('confirm', {
    summary: 'Confirm an entry',
    description: 'A person has checked it. Every entry starts unconfirmed.',
    answers: { 200: 'The entry, confirmed.' },
  }),
  unconfirmMemory: changeOf('unconfirm', {
    summary: 'Take a confirmation back',
    answers: { 200: 'The entry, unconfirmed.' },
  }),
  supersedeMemory: defineRoute({
    method: 'POST',
    path: '/v1/memories/{id}/supersede',
    scope: 'write',
    tag: TAG,
    summary: 'Put a newer entry in the place of this one',
    description:
      'The older leaves the search, not the database. The newer is draft, to be written, or id, an entry that exists. A cycle is refused.',
    params: memoryParams,
    body: supersedeRequestSchema,
    answers: { 200: 'Both entries.' },
    answer: wireSupersedeResultSchema,
    takesIdempotencyKey: true,
    errors: ['not_found', 'conflict', 'embedding_failed'],
    example: {
      params: { id: EXAMPLE_ID },
      body: { draft: { ...DRAFT_EXAMPLE, content: 'Ada prefers water.' } },
    },
  }),
  memoryHistory: defineRoute({
    method: 'GET',
    path: '/v1/memories/{id}/history',
    scope: 'read',
    tag: TAG,
    summary: 'Read the chain of supersession an entry stands in',
    params: memoryParams,
    answers: { 200: 'The chain, oldest first.' },
    answer: wireHistorySchema,
    errors: ['not_found'],
    example: { params: { id: EXAMPLE_ID } },
  }),
};

function changeOf<const Verb extends string>(
  verb: Verb,
  texts: {
    readonly summary: string;
    readonly description?: string;
    readonly answers: { readonly 200: string };
  },
) {
  return defineRoute({
    method: 'POST',
    path: `/v1/memories/{id}/${verb}`,
    scope: 'write',
    tag: TAG,
    ...texts,
    params: memoryParams,
    answer: wireEntrySchema,
    hasEtag: true,
    takesIdempotencyKey: true,
    errors: ['not_found', 'conflict'],
    example: { params: { id: EXAMPLE_ID } },
  });
}

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { refusal } from '../../test/helpers/refusal.ts';
import { BOOSTED_PROFILE, WEIGHTED_PROFILE } from '../core/defaults.ts';
import type { MemoryEntry } from '../core/types.ts';
import { memoryDraftSchema } from './memory-draft.ts';
import { type ShownEntry, shownEntry, wireEntrySchema } from './memory-entry.ts';
import { wireProfileSchema } from './ranking-profile.ts';
import { recallRequestSchema } from './recall-request.ts';
import { fromWire, requestsToWire, requestToWire, toWire } from './wire-form.ts';
import { wireInstant } from './wire-instant.ts';

const ENTRY: MemoryEntry = {
  id: '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f',
  tenantId: 'acme',
  ownerId: null,
  createdBy: 'ada',
  namespace: 'team.notes',
  type: 'note',
  content: 'Tea.',
  contentHash: 'f'.repeat(64),
  metadata: { userName: 1, user_name: 2, nested: { some_key: [{ otherKey: null }] } },
  tags: ['some_tag'],
  source: { kind: 'chat' },
  importance: 0,
  status: 'unconfirmed',
  confirmedAt: null,
  confirmedBy: null,
  supersededBy: null,
  supersededAt: null,
  observedAt: new Date('2026-05-02T09:30:00.123Z'),
  createdAt: new Date(0),
  updatedAt: new Date(1),
  expiresAt: null,
  deletedAt: null,
  accessCount: 0,
  validatedAccessCount: 0,
  version: 1,
};

describe('answers', () => {
  test('an entry comes back from the wire as it was', () => {
    const shown: ShownEntry = shownEntry(ENTRY, 0);
    const wire = toWire(wireEntrySchema, shown);
    expect(wire).toMatchObject({
      tenant_id: 'acme',
      observed_at: '2026-05-02T09:30:00.123Z',
      expires_at: null,
      importance: 0,
      metadata: ENTRY.metadata,
    });
    // The type says that an entry of the wire is one of the core.
    const back: MemoryEntry = fromWire(wireEntrySchema, JSON.parse(JSON.stringify(wire)));
    expect(back).toEqual(shown);
  });

  test('only the fields of the schema are shown, whatever else the value has', () => {
    const schema = z.strictObject({ key_id: z.string() });
    const stored = { keyId: 'k', secretHash: 'never' };
    expect(toWire(schema, stored)).toEqual({ key_id: 'k' });
  });

  test('of several objects the discriminator says which it is', () => {
    for (const profile of [BOOSTED_PROFILE, WEIGHTED_PROFILE]) {
      expect(fromWire(wireProfileSchema, toWire(wireProfileSchema, profile))).toEqual(profile);
    }
    expect(toWire(wireProfileSchema, WEIGHTED_PROFILE)).toHaveProperty('half_life_days', 14);
  });

  test('what a newer server says is kept as it came', () => {
    const schema = z.strictObject({ made_at: wireInstant });
    expect(fromWire(schema, { made_at: '1970-01-01T00:00:00Z', new_field: { inner_key: 1 } })).toEqual({
      madeAt: new Date(0),
      new_field: { inner_key: 1 },
    });
  });
});

describe('requests', () => {
  test('known fields are renamed, dates written, undefined left out, keys of metadata left alone', () => {
    const input = Object.freeze({
      namespace: 'a',
      content: 'x',
      observedAt: new Date(0),
      expiresAt: undefined,
      metadata: Object.freeze({ userName: 1, user_name: 2 }),
    });
    expect(requestToWire(memoryDraftSchema, input, 'remember')).toEqual({
      namespace: 'a',
      content: 'x',
      observed_at: '1970-01-01T00:00:00.000Z',
      metadata: { userName: 1, user_name: 2 },
    });
  });

  test('objects within objects, and the alternative that was meant', () => {
    const input = { filter: { tags: { any: ['a'] }, observedAt: { from: new Date(0) } }, topK: 0 };
    expect(requestToWire(recallRequestSchema, input, 'recall')).toEqual({
      filter: { tags: { any: ['a'] }, observed_at: { from: '1970-01-01T00:00:00.000Z' } },
      top_k: 0,
    });
    const list = { filter: { tags: ['a'] } };
    expect(requestToWire(recallRequestSchema, list, 'recall')).toEqual(list);
  });

  test.each<[unknown, string]>([
    [{ top_k: 1 }, 'top_k: this field is unknown. Did you mean topK?'],
    [{ filter: { observed_at: {} } }, 'filter.observed_at: this field is unknown. Did you mean observedAt?'],
    [[], 'recall takes an object, not a list.'],
    [null, 'recall takes an object, not null.'],
    [
      { filter: { observedAt: { from: new Date(Number.NaN) } } },
      'filter.observedAt.from: this date is invalid.',
    ],
  ])('%j is refused', (input, message) => {
    expect(refusal(() => requestToWire(recallRequestSchema, input, 'recall')).message).toBe(message);
  });

  test('a refusal in a list names the item', () => {
    const inputs = [{ content: 'x' }, { contents: 'x' }];
    const { details } = refusal(() => requestsToWire(memoryDraftSchema, inputs, 'memories'));
    expect(details[0]).toMatchObject({ path: 'memories[1].contents', item: 1 });
  });
});

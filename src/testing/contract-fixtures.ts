import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type ErrorCode, PalimpsestError } from '../core/errors.ts';
import type { AuditContext, CandidateQuery, PreparedDraft, Store } from '../core/ports.ts';
import type { Access, Candidate, MemoryDraft, MemoryEntry } from '../core/types.ts';

/** Model of the contract's vectors: four dimensions, so that a distance can be worked out by eye. */
export const TEST_MODEL = { modelId: 'contract-4', dimensions: 4 };

/** A fixed moment, so that ages and orders are exact. */
export const NOON = Date.UTC(2026, 0, 19, 12);
export const MINUTE = 60_000;
export const DAY = 86_400_000;

export function at(now: number): AuditContext {
  return { now };
}

/** The operator: every namespace of the tenant. */
export function operator(tenantId: string): Access {
  return {
    principal: { tenantId, userId: 'local', isAdmin: true, isTenantWide: true },
    readGrants: [],
    writeGrants: [],
  };
}

/** An ordinary user with what policies open for them. */
export function user(
  tenantId: string,
  userId: string,
  grants: { read?: readonly string[]; write?: readonly string[]; isAdmin?: boolean } = {},
): Access {
  return {
    principal: { tenantId, userId, isAdmin: grants.isAdmin ?? false, isTenantWide: false },
    readGrants: grants.read ?? [],
    writeGrants: grants.write ?? [],
  };
}

export function sha256(content: string): string {
  return createHash('sha256').update(content, 'utf8').digest('hex');
}

/** A draft ready to store, with a vector where the test gives one. */
export function prepared(draft: MemoryDraft, vector: readonly number[] | null = [1, 0, 0, 0]): PreparedDraft {
  return {
    draft,
    contentHash: sha256(draft.content),
    embeddings: [{ modelId: TEST_MODEL.modelId, vector: vector === null ? null : Float32Array.from(vector) }],
  };
}

/** Writes one entry and gives it back. */
export async function writeOne(
  store: Store,
  access: Access,
  draft: MemoryDraft,
  options: { now?: number; vector?: readonly number[] | null } = {},
): Promise<MemoryEntry> {
  const [result] = await store.write(access, [prepared(draft, options.vector)], at(options.now ?? NOON));
  assert.ok(result, 'a write of one draft gives one result');
  return result.entry;
}

export async function readOne(store: Store, access: Access, id: string): Promise<MemoryEntry | undefined> {
  const [entry] = await store.read(access, (view) => view.entries([id]));
  return entry;
}

/** What a search over some namespaces is offered to rank. */
export function candidatesOf(
  store: Store,
  access: Access,
  query: Partial<CandidateQuery> & { namespaces: readonly string[] },
): Promise<readonly Candidate[]> {
  return store.read(access, async (view) => {
    const batch = await view.candidates({
      filter: {},
      query: { modelId: TEST_MODEL.modelId, vector: Float32Array.of(1, 0, 0, 0) },
      now: NOON,
      limit: 1000,
      bound: [],
      ...query,
    });
    return batch.candidates;
  });
}

/** The rejection must be one of ours, with this code. */
export function rejectsWith(code: ErrorCode, work: Promise<unknown>): Promise<void> {
  return assert.rejects(work, (error: unknown) => {
    assert.ok(PalimpsestError.isInstance(error), `expected ${code}, got ${String(error)}`);
    assert.equal(error.code, code, error.message);
    return true;
  });
}

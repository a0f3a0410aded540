import { MAX_SERVICE_PAUSE_MS } from '../../../core/defaults.ts';
import type { SettledEntry } from '../../../core/embedding-store.ts';
import type { JsonObject } from '../../../core/types.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { vectorLiteral } from '../../vector-literal.ts';

/** What workers in the background do. Leases and delays go by the database's clock, which they all share. */

export interface PendingRow extends SqlRow {
  tenant_id: string;
  model_id: string;
  dimensions: number;
  settings: JsonObject | null;
}

/**
 * Pairs of tenant and model that have something to do. They are found by jumping from pair to pair in the index:
 * `DISTINCT` would read a backlog of a million rows for every look.
 */
export function selectPending(): SqlStatement {
  return {
    text: `WITH RECURSIVE pair AS (
        (SELECT tenant_id, model_id FROM app.embedding_gaps WHERE reason = 'waiting'
          ORDER BY tenant_id, model_id LIMIT 1)
        UNION ALL
        SELECT n.tenant_id, n.model_id FROM pair AS p, LATERAL (
          SELECT g.tenant_id, g.model_id FROM app.embedding_gaps AS g
          WHERE g.reason = 'waiting' AND (g.tenant_id, g.model_id) > (p.tenant_id, p.model_id)
          ORDER BY g.tenant_id, g.model_id LIMIT 1) AS n
      )
      SELECT d.tenant_id, d.model_id, d.dimensions, d.settings FROM app.embedding_models AS d
      WHERE (d.retry_at IS NULL OR d.retry_at <= clock_timestamp())
        AND (EXISTS (SELECT FROM pair AS p WHERE p.tenant_id = d.tenant_id AND p.model_id = d.model_id)
          OR EXISTS (SELECT FROM app.embedding_jobs AS j
            WHERE j.tenant_id = d.tenant_id AND j.model_id = d.model_id AND j.status = 'running'))
        AND NOT EXISTS (SELECT FROM app.embedding_jobs AS j
          WHERE j.tenant_id = d.tenant_id AND j.model_id = d.model_id AND j.status = 'paused')
      ORDER BY d.tenant_id, d.model_id`,
    values: [],
  };
}

export interface ClaimedRow extends SqlRow {
  memory_id: string;
  /** Null where the entry is gone. */
  namespace: string | null;
  content_hash: string;
  content: string;
  type: string;
  metadata: JsonObject;
  source_kind: string | null;
  source_ref: string | null;
}

/** Claims entries that nobody has claimed, or whose claim has lapsed, for a while. */
export function claimGaps(
  tenantId: string,
  modelId: string,
  claim: { readonly id: string; readonly limit: number; readonly leaseMs: number },
): SqlStatement {
  return {
    text: `WITH next AS MATERIALIZED (
        SELECT memory_id FROM app.embedding_gaps
        WHERE tenant_id = $1 AND model_id = $2 AND reason = 'waiting'
          AND (claimed_until IS NULL OR claimed_until < clock_timestamp())
          AND NOT EXISTS (SELECT FROM app.embedding_jobs AS j
            WHERE j.tenant_id = $1 AND j.model_id = $2 AND j.status = 'paused')
          AND NOT EXISTS (SELECT FROM app.embedding_models AS d
            WHERE d.tenant_id = $1 AND d.model_id = $2 AND d.retry_at > clock_timestamp())
        ORDER BY memory_id LIMIT $4::bigint FOR UPDATE SKIP LOCKED
      ), claimed AS (
        UPDATE app.embedding_gaps AS g
        SET claim_id = $3::uuid, claimed_until = clock_timestamp() + $5::bigint * interval '1 millisecond'
        FROM next WHERE g.tenant_id = $1 AND g.model_id = $2 AND g.memory_id = next.memory_id
        RETURNING g.memory_id
      )
      SELECT c.memory_id, m.namespace, m.content_hash, m.content, m.type, m.metadata, m.source_kind, m.source_ref
      FROM claimed AS c LEFT JOIN app.memories AS m ON m.tenant_id = $1 AND m.id = c.memory_id
      ORDER BY c.memory_id`,
    values: [tenantId, modelId, claim.id, claim.limit, claim.leaseMs],
  };
}

export function extendClaim(
  tenantId: string,
  modelId: string,
  claim: { readonly id: string; readonly leaseMs: number },
): SqlStatement {
  return {
    text: `UPDATE app.embedding_gaps SET claimed_until = clock_timestamp() + $4::bigint * interval '1 millisecond'
      WHERE tenant_id = $1 AND model_id = $2 AND claim_id = $3::uuid AND reason = 'waiting'`,
    values: [tenantId, modelId, claim.id, claim.leaseMs],
  };
}

export function endClaim(tenantId: string, modelId: string, claimId: string): SqlStatement {
  return {
    text: `UPDATE app.embedding_gaps SET claim_id = NULL, claimed_until = NULL
      WHERE tenant_id = $1 AND model_id = $2 AND claim_id = $3::uuid AND reason = 'waiting'`,
    values: [tenantId, modelId, claimId],
  };
}

/**
 * Locks namespaces in the order of their paths, as every write does, and raises their versions: what is ranked
 * under the model changes. No entry's own version rises, and no time, for nothing about the entries is new.
 */
export function bumpNamespaces(tenantId: string, paths: readonly string[]): SqlStatement {
  return {
    text: `WITH locked AS MATERIALIZED (
        SELECT path FROM app.namespaces WHERE tenant_id = $1 AND path = ANY($2::text[])
        ORDER BY path COLLATE "C" FOR NO KEY UPDATE
      )
      UPDATE app.namespaces AS n SET version = version + 1 FROM locked
      WHERE n.tenant_id = $1 AND n.path = locked.path`,
    values: [tenantId, paths],
  };
}

type Embedded = Pick<SettledEntry, 'memoryId' | 'contentHash'> & {
  readonly embedding: { readonly vector: Float32Array; readonly coverage?: string | undefined };
};

/** Stores vectors of entries that still hold the content they were made of. */
export function storeVectors(tenantId: string, modelId: string, entries: readonly Embedded[]): SqlStatement {
  const literals = entries.map(({ embedding }) => vectorLiteral(embedding.vector));
  return {
    text: `INSERT INTO app.memory_embeddings (tenant_id, model_id, memory_id, namespace, embedding, coverage)
      SELECT $1, $2, m.id, m.namespace, coalesce(r.dense::vector, r.sparse::sparsevec::vector), r.coverage
      FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
        AS r (memory_id, content_hash, dense, sparse, coverage)
      JOIN app.memories AS m ON m.tenant_id = $1 AND m.id = r.memory_id AND m.content_hash = r.content_hash
      ON CONFLICT (tenant_id, model_id, memory_id) DO UPDATE
        SET embedding = excluded.embedding, coverage = excluded.coverage`,
    values: [
      tenantId,
      modelId,
      entries.map(({ memoryId }) => memoryId),
      entries.map(({ contentHash }) => contentHash),
      literals.map(({ text, sparse }) => (sparse ? null : text)),
      literals.map(({ text, sparse }) => (sparse ? text : null)),
      entries.map(({ embedding }) => embedding.coverage ?? 'whole'),
    ],
  };
}

/**
 * Ends the gaps of a claim that got their vector. One that was claimed anew, or made anew because the entry has
 * changed, is another gap and stays.
 */
export function deleteClaimedGaps(
  tenantId: string,
  modelId: string,
  claimId: string,
  memoryIds: readonly string[],
): SqlStatement {
  return {
    text: `DELETE FROM app.embedding_gaps
      WHERE tenant_id = $1 AND model_id = $2 AND claim_id = $3::uuid AND memory_id = ANY($4::uuid[])
      RETURNING memory_id`,
    values: [tenantId, modelId, claimId, memoryIds],
  };
}

/** Settles gaps that get no vector: `error` says why a text was refused, null where there is nothing to embed. */
export function settleGaps(
  tenantId: string,
  modelId: string,
  claimId: string,
  entries: readonly { readonly memoryId: string; readonly error: string | null }[],
): SqlStatement {
  return {
    text: `UPDATE app.embedding_gaps AS g SET reason = CASE WHEN r.error IS NULL THEN 'empty' ELSE 'refused' END,
        error = r.error, claim_id = NULL, claimed_until = NULL
      FROM unnest($4::uuid[], $5::text[]) AS r (memory_id, error)
      WHERE g.tenant_id = $1 AND g.model_id = $2 AND g.claim_id = $3::uuid AND g.memory_id = r.memory_id
      RETURNING g.memory_id`,
    values: [
      tenantId,
      modelId,
      claimId,
      entries.map(({ memoryId }) => memoryId),
      entries.map(({ error }) => error),
    ],
  };
}

/** Delay after the first failure, and the longest; it doubles in between, and each is cut by up to a half by chance. */
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

/** Counts a failure of a model, once for all workers that met it, and leaves it alone for a while. */
export function deferModel(
  tenantId: string,
  modelId: string,
  failure: { readonly message: string; readonly afterMs: number | null },
): SqlStatement {
  return {
    text: `UPDATE app.embedding_models SET failures = failures + 1, last_error = $3,
        retry_at = clock_timestamp() + interval '1 millisecond' * greatest($4::bigint,
          least($6::bigint, $5::bigint * power(2, least(failures, 16))) * (0.5 + random() / 2))
      WHERE tenant_id = $1 AND model_id = $2 AND (retry_at IS NULL OR retry_at <= clock_timestamp())`,
    values: [
      tenantId,
      modelId,
      failure.message,
      Math.ceil(Math.min(failure.afterMs ?? 0, MAX_SERVICE_PAUSE_MS)),
      FIRST_DELAY_MS,
      LONGEST_DELAY_MS,
    ],
  };
}

/** The model answers again. */
export function forgetFailures(tenantId: string, modelId: string): SqlStatement {
  return {
    text: `UPDATE app.embedding_models SET failures = 0, retry_at = NULL, last_error = NULL
      WHERE tenant_id = $1 AND model_id = $2 AND failures > 0`,
    values: [tenantId, modelId],
  };
}

/** Has refused texts asked again, as a person decides. */
export function requeueRefused(tenantId: string, modelId: string): SqlStatement {
  return {
    text: `UPDATE app.embedding_gaps SET reason = 'waiting', error = NULL, claim_id = NULL, claimed_until = NULL
      WHERE tenant_id = $1 AND model_id = $2 AND reason = 'refused' RETURNING memory_id`,
    values: [tenantId, modelId],
  };
}

/** Has entries embedded anew whose embedded text has changed but not their content; nobody's claim holds any more. */
export function requeueVectors(
  tenantId: string,
  gaps: readonly { readonly memoryId: string; readonly modelId: string; readonly namespace: string }[],
): SqlStatement {
  return {
    text: `INSERT INTO app.embedding_gaps (tenant_id, model_id, memory_id, namespace, reason)
      SELECT $1, r.model_id, r.memory_id, r.namespace, 'waiting'
      FROM unnest($2::text[], $3::uuid[], $4::text[]) AS r (model_id, memory_id, namespace)
      ON CONFLICT (tenant_id, model_id, memory_id) DO UPDATE
        SET reason = 'waiting', error = NULL, claim_id = NULL, claimed_until = NULL`,
    values: [
      tenantId,
      gaps.map(({ modelId }) => modelId),
      gaps.map(({ memoryId }) => memoryId),
      gaps.map(({ namespace }) => namespace),
    ],
  };
}

export function deleteWaiting(tenantId: string, modelId: string): SqlStatement {
  return {
    text: `DELETE FROM app.embedding_gaps WHERE tenant_id = $1 AND model_id = $2 AND reason = 'waiting'`,
    values: [tenantId, modelId],
  };
}

import type {
  ChangeVerification,
  EmbeddingJob,
  EmbeddingJobKind,
  EmbeddingJobStatus,
  NewJob,
} from '../../../core/embedding-store.ts';
import type { JsonObject } from '../../../core/types.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { sqlTime } from '../../sql-parameters.ts';
import { toKnownModel } from './state.ts';

/** Jobs that embed every entry of a scope under a model. */

export interface JobRow extends SqlRow {
  job_id: string;
  kind: EmbeddingJobKind;
  scope: string;
  status: EmbeddingJobStatus;
  switches_itself: boolean;
  purges_old: boolean;
  created_by: string;
  created_at: Date;
  finished_at: Date | null;
  is_scanned: boolean;
  scanned_to: string | null;
  run_started_at: Date | null;
  run_updated_at: Date | null;
  run_settled: number;
  verification: ChangeVerification | null;
  model_id: string;
  dimensions: number;
  settings: JsonObject | null;
  failures: number;
  retry_at: Date | null;
  last_error: string | null;
  previous_model_id: string | null;
  previous_dimensions: number | null;
  previous_settings: JsonObject | null;
}

export function toJob(row: JobRow): EmbeddingJob {
  const { previous_model_id: previousId, previous_dimensions: previousDimensions } = row;
  return {
    id: row.job_id,
    kind: row.kind,
    scope: row.scope,
    model: toKnownModel(row),
    status: row.status,
    switchesItself: row.switches_itself,
    purgesOld: row.purges_old,
    createdBy: row.created_by,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    isScanned: row.is_scanned,
    previousModel:
      previousId === null || previousDimensions === null
        ? null
        : { modelId: previousId, dimensions: previousDimensions, settings: row.previous_settings },
    verification: row.verification,
  };
}

const SELECT_JOBS = `SELECT j.job_id, j.kind, j.scope, j.status, j.switches_itself, j.purges_old, j.created_by,
    j.created_at, j.finished_at, j.is_scanned, j.scanned_to, j.run_started_at, j.run_updated_at, j.run_settled,
    j.verification, d.model_id, d.dimensions, d.settings, d.failures, d.retry_at, d.last_error,
    p.model_id AS previous_model_id, p.dimensions AS previous_dimensions, p.settings AS previous_settings
  FROM app.embedding_jobs AS j
  JOIN app.embedding_models AS d ON d.tenant_id = j.tenant_id AND d.model_id = j.model_id
  LEFT JOIN app.embedding_models AS p ON p.tenant_id = j.tenant_id AND p.model_id = j.previous_model_id
  WHERE j.tenant_id = $1`;

export function selectJobs(tenantId: string): SqlStatement {
  return { text: `${SELECT_JOBS} ORDER BY j.created_at DESC, j.job_id DESC`, values: [tenantId] };
}

export function selectJob(tenantId: string, jobId: string): SqlStatement {
  return { text: `${SELECT_JOBS} AND j.job_id = $2::uuid`, values: [tenantId, jobId] };
}

/** Keeps a job as it is until this transaction is over. */
export function lockJob(tenantId: string, jobId: string): SqlStatement {
  return {
    text: 'SELECT FROM app.embedding_jobs WHERE tenant_id = $1 AND job_id = $2::uuid FOR UPDATE',
    values: [tenantId, jobId],
  };
}

export function insertJob(
  tenantId: string,
  jobId: string,
  job: NewJob,
  createdBy: string,
  now: number,
): SqlStatement {
  return {
    text: `INSERT INTO app.embedding_jobs
        (tenant_id, job_id, kind, scope, model_id, status, switches_itself, purges_old, created_by, created_at)
      VALUES ($1, $2::uuid, $3, $4, $5, 'running', $6::boolean, $7::boolean, $8, $9::timestamptz)`,
    values: [
      tenantId,
      jobId,
      job.kind,
      job.scope,
      job.modelId,
      job.switchesItself,
      job.purgesOld,
      createdBy,
      sqlTime(now),
    ],
  };
}

export function updateJobStatus(
  tenantId: string,
  jobId: string,
  status: EmbeddingJobStatus,
  ended: { readonly now: number; readonly previousModelId: string | null } | null,
): SqlStatement {
  return {
    text: `UPDATE app.embedding_jobs SET status = $3, finished_at = $4::timestamptz, previous_model_id = $5
      WHERE tenant_id = $1 AND job_id = $2::uuid`,
    values: [
      tenantId,
      jobId,
      status,
      ended === null ? null : sqlTime(ended.now),
      ended?.previousModelId ?? null,
    ],
  };
}

export function updateVerification(
  tenantId: string,
  jobId: string,
  verification: ChangeVerification,
): SqlStatement {
  return {
    text: `UPDATE app.embedding_jobs SET verification = $3::jsonb
      WHERE tenant_id = $1 AND job_id = $2::uuid AND status IN ('running', 'paused')`,
    values: [tenantId, jobId, JSON.stringify(verification)],
  };
}

/** The next job under a model that has entries to look at, locked; none where another process looks at them. */
export function claimScan(tenantId: string, modelId: string): SqlStatement {
  return {
    text: `SELECT job_id, scope, scanned_to FROM app.embedding_jobs
      WHERE tenant_id = $1 AND model_id = $2 AND status = 'running' AND NOT is_scanned
      ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
    values: [tenantId, modelId],
  };
}

export interface ScanRow extends SqlRow {
  last_id: string | null;
  seen: number;
}

/**
 * Looks at the entries after an id, of any scope, and notes those of the job's that have no vector: a step has a
 * bounded cost however few of a large store's entries the scope has.
 */
export function scanEntries(
  tenantId: string,
  modelId: string,
  step: {
    readonly after: string | null;
    readonly limit: number;
    readonly within: string;
    readonly without: string;
  },
): SqlStatement {
  return {
    text: `WITH step AS MATERIALIZED (
        SELECT m.id, m.namespace FROM app.memories AS m
        WHERE m.tenant_id = $1 AND ($3::uuid IS NULL OR m.id > $3::uuid) ORDER BY m.id LIMIT $4::bigint
      ), noted AS (
        INSERT INTO app.embedding_gaps (tenant_id, model_id, memory_id, namespace, reason)
        SELECT $1, $2, s.id, s.namespace, 'waiting' FROM step AS s
        WHERE s.namespace ~ $5 AND s.namespace !~ $6
          AND NOT EXISTS (SELECT FROM app.memory_embeddings AS e
            WHERE e.tenant_id = $1 AND e.model_id = $2 AND e.memory_id = s.id)
        ON CONFLICT (tenant_id, model_id, memory_id) DO NOTHING
      )
      SELECT (SELECT id FROM step ORDER BY id DESC LIMIT 1) AS last_id, (SELECT count(*) FROM step) AS seen`,
    values: [tenantId, modelId, step.after, step.limit, step.within, step.without],
  };
}

export function updateScan(
  tenantId: string,
  jobId: string,
  scan: { readonly to: string | null; readonly isScanned: boolean },
): SqlStatement {
  return {
    text: `UPDATE app.embedding_jobs SET scanned_to = coalesce($3::uuid, scanned_to), is_scanned = $4::boolean
      WHERE tenant_id = $1 AND job_id = $2::uuid`,
    values: [tenantId, jobId, scan.to, scan.isScanned],
  };
}

/** Work that was interrupted for longer than this begins a new run, whose rate starts anew. */
const RUN_GAP = "interval '60 seconds'";

export function countSettled(tenantId: string, modelId: string, settled: number): SqlStatement {
  return {
    text: `UPDATE app.embedding_jobs SET
        run_started_at = CASE WHEN run_updated_at > clock_timestamp() - ${RUN_GAP} THEN run_started_at
          ELSE clock_timestamp() END,
        run_settled = CASE WHEN run_updated_at > clock_timestamp() - ${RUN_GAP} THEN run_settled + $3::bigint ELSE 0 END,
        run_updated_at = clock_timestamp()
      WHERE tenant_id = $1 AND model_id = $2 AND status = 'running'`,
    values: [tenantId, modelId, settled],
  };
}

/** The two conditions that an entry belongs to a job: in its scope, and not in one with a model of its own. */
export interface JobScope {
  readonly within: string;
  readonly without: string;
}

export interface ProgressRow extends SqlRow {
  entries: number;
  unseen: number;
  waiting: number;
  refused: number;
}

/**
 * Counts by indexes alone, since it is asked every second while somebody watches. Of the entries ahead of the scan
 * only those are unseen that have neither a vector nor a gap: writes during a change make one or the other, and an
 * earlier change may have left vectors.
 */
export function selectProgress(tenantId: string, job: JobRow, scope: JobScope): SqlStatement {
  return {
    text: `SELECT
        (SELECT count(*) FROM app.memories AS m
          WHERE m.tenant_id = $1 AND m.namespace ~ $3 AND m.namespace !~ $4) AS entries,
        (SELECT count(*) FROM app.memories AS m
          WHERE m.tenant_id = $1 AND m.namespace ~ $3 AND m.namespace !~ $4
            AND NOT $5::boolean AND ($6::uuid IS NULL OR m.id > $6::uuid)
            AND NOT EXISTS (SELECT FROM app.memory_embeddings AS e
              WHERE e.tenant_id = $1 AND e.model_id = $2 AND e.memory_id = m.id)
            AND NOT EXISTS (SELECT FROM app.embedding_gaps AS g
              WHERE g.tenant_id = $1 AND g.model_id = $2 AND g.memory_id = m.id)) AS unseen,
        (SELECT count(*) FROM app.embedding_gaps AS g WHERE g.tenant_id = $1 AND g.model_id = $2
          AND g.reason = 'waiting' AND g.namespace ~ $3 AND g.namespace !~ $4) AS waiting,
        (SELECT count(*) FROM app.embedding_gaps AS g WHERE g.tenant_id = $1 AND g.model_id = $2
          AND g.reason = 'refused' AND g.namespace ~ $3 AND g.namespace !~ $4) AS refused`,
    values: [tenantId, job.model_id, scope.within, scope.without, job.is_scanned, job.scanned_to],
  };
}

export interface CoverageRow extends SqlRow {
  entries: number;
  vectors: number;
  waiting: number;
  empty: number;
  refused: number;
  unseen: number;
}

/** Every entry of a job's scope, by what it has under the job's model. */
export function selectCoverage(tenantId: string, modelId: string, scope: JobScope): SqlStatement {
  return {
    text: `SELECT count(*) AS entries, count(e.memory_id) AS vectors,
        count(*) FILTER (WHERE g.reason = 'waiting') AS waiting,
        count(*) FILTER (WHERE g.reason = 'empty' AND e.memory_id IS NULL) AS empty,
        count(*) FILTER (WHERE g.reason = 'refused' AND e.memory_id IS NULL) AS refused,
        count(*) FILTER (WHERE g.reason IS NULL AND e.memory_id IS NULL) AS unseen
      FROM app.memories AS m
      LEFT JOIN app.memory_embeddings AS e ON e.tenant_id = $1 AND e.model_id = $2 AND e.memory_id = m.id
      LEFT JOIN app.embedding_gaps AS g ON g.tenant_id = $1 AND g.model_id = $2 AND g.memory_id = m.id
      WHERE m.tenant_id = $1 AND m.namespace ~ $3 AND m.namespace !~ $4`,
    values: [tenantId, modelId, scope.within, scope.without],
  };
}

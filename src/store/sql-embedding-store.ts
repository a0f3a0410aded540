import type { EmbeddingState, KnownModel } from '../core/embedding-state.ts';
import type {
  ChangeVerification,
  ClaimedEntry,
  ConfiguredModel,
  CoverageCounts,
  EmbeddingJob,
  EmbeddingStore,
  JobProgress,
  NewJob,
  PendingModel,
  SettledEntry,
} from '../core/embedding-store.ts';
import type { AuditContext, Clock } from '../core/ports.ts';
import { systemAccess } from '../core/system-access.ts';
import type { Access, JsonObject } from '../core/types.ts';
import {
  adoptModels,
  cancelJob,
  finishJob,
  jobScope,
  readAssignments,
  readJob,
  readJobRow,
  setPaused,
  startJob,
  unusedNamespaces,
} from './operations/embedding-jobs.ts';
import { readEmbeddingState, readPlan, requireDimensions } from './operations/embedding-state.ts';
import { recordDecision } from './operations/record-audit.ts';
import { lockModels, shareModels } from './queries/access.ts';
import {
  type CoverageRow,
  claimScan,
  countSettled,
  type JobRow,
  type ProgressRow,
  type ScanRow,
  scanEntries,
  selectCoverage,
  selectJobs,
  selectProgress,
  toJob,
  updateScan,
  updateVerification,
} from './queries/embedding/jobs.ts';
import { markCaughtUp, toKnownModel, upsertModel } from './queries/embedding/state.ts';
import { countVectors, deleteGaps, deleteVectors, selectModelIds } from './queries/embedding/unused.ts';
import { selectNearestIds, selectSample } from './queries/embedding/verify.ts';
import {
  bumpNamespaces,
  type ClaimedRow,
  claimGaps,
  deferModel,
  deleteClaimedGaps,
  endClaim,
  extendClaim,
  forgetFailures,
  type PendingRow,
  requeueRefused,
  requeueVectors,
  selectPending,
  settleGaps,
  storeVectors,
} from './queries/embedding/work.ts';
import { selectEntryPlaces } from './queries/memories.ts';
import { insertTenant, selectNamespaces } from './queries/namespaces.ts';
import type { RequestDatabase } from './request-database.ts';
import type { SqlTransaction } from './sql-database.ts';

/** Models, their jobs and their gaps on any Postgres. */
export class SqlEmbeddingStore implements EmbeddingStore {
  private readonly database: RequestDatabase;
  private readonly clock: Clock;

  constructor(database: RequestDatabase, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  embeddingState(tenantId: string): Promise<EmbeddingState> {
    return this.working(tenantId, (tx) => readEmbeddingState(tx, tenantId));
  }

  adoptModels(tenantId: string, models: readonly ConfiguredModel[], now: number): Promise<EmbeddingState> {
    const access = systemAccess(tenantId);
    return this.deciding(access, async (tx) => {
      await adoptModels(tx, access, models, { now });
      return readEmbeddingState(tx, tenantId);
    });
  }

  registerModel(tenantId: string, model: KnownModel): Promise<void> {
    return this.working(tenantId, async (tx) => {
      await tx.query(insertTenant(tenantId, this.clock()));
      await tx.query(upsertModel(tenantId, model, this.clock()));
      await requireDimensions(tx, tenantId, model);
    });
  }

  startJob(access: Access, job: NewJob, audit: AuditContext): Promise<EmbeddingJob> {
    return this.deciding(access, (tx) => startJob(tx, access, job, audit));
  }

  listJobs(tenantId: string): Promise<EmbeddingJob[]> {
    return this.working(tenantId, async (tx) => (await tx.query<JobRow>(selectJobs(tenantId))).map(toJob));
  }

  jobProgress(tenantId: string, jobId: string): Promise<JobProgress> {
    return this.working(tenantId, async (tx) => {
      const job = await readJobRow(tx, tenantId, jobId);
      return toProgress(job, await readProgress(tx, tenantId, job));
    });
  }

  pauseJob(access: Access, jobId: string, audit: AuditContext): Promise<EmbeddingJob> {
    return this.deciding(access, (tx) => setPaused(tx, access, jobId, true, audit));
  }

  resumeJob(access: Access, jobId: string, audit: AuditContext): Promise<EmbeddingJob> {
    return this.deciding(access, (tx) => setPaused(tx, access, jobId, false, audit));
  }

  cancelJob(access: Access, jobId: string, audit: AuditContext): Promise<EmbeddingJob> {
    return this.deciding(access, (tx) => cancelJob(tx, access, jobId, audit));
  }

  retryRefused(access: Access, jobId: string, audit: AuditContext): Promise<number> {
    return this.deciding(access, async (tx) => {
      const { tenantId } = access.principal;
      const { model } = await readJob(tx, tenantId, jobId);
      const retried = (await tx.query(requeueRefused(tenantId, model.modelId))).length;
      await recordDecision(tx, access, audit, 'retry_refused_embeddings', { job_id: jobId, retried });
      return retried;
    });
  }

  async keepVerification(tenantId: string, jobId: string, verification: ChangeVerification): Promise<void> {
    await this.working(tenantId, (tx) => tx.query(updateVerification(tenantId, jobId, verification)));
  }

  finishJob(
    access: Access,
    jobId: string,
    accepts: { readonly refused: boolean; readonly waiting: boolean },
    audit: AuditContext,
  ): Promise<EmbeddingJob> {
    const { tenantId } = access.principal;
    return this.deciding(access, (tx) =>
      finishJob(tx, access, jobId, accepts, (job) => readProgress(tx, tenantId, job), audit),
    );
  }

  pendingModels(): Promise<PendingModel[]> {
    // No tenant: the role may then see who has work, and nothing else.
    return this.working('', async (tx) => {
      const rows = await tx.query<PendingRow>(selectPending());
      return rows.map((row) => ({ tenantId: row.tenant_id, model: toKnownModel(row) }));
    });
  }

  scanNext(tenantId: string, modelId: string, limit: number): Promise<boolean> {
    return this.working(tenantId, async (tx) => {
      const [job] = await tx.query<JobRow>(claimScan(tenantId, modelId));
      if (job === undefined) return false;
      const scope = await jobScope(tx, tenantId, await readJobRow(tx, tenantId, job.job_id));
      const [step] = await tx.query<ScanRow>(
        scanEntries(tenantId, modelId, { after: job.scanned_to, limit, ...scope }),
      );
      const isScanned = step === undefined || step.seen < limit;
      await tx.query(updateScan(tenantId, job.job_id, { to: step?.last_id ?? null, isScanned }));
      return true;
    });
  }

  claimEntries(
    tenantId: string,
    modelId: string,
    claim: { readonly id: string; readonly limit: number; readonly leaseMs: number },
  ): Promise<ClaimedEntry[]> {
    return this.working(tenantId, async (tx) => {
      const rows = await tx.query<ClaimedRow>(claimGaps(tenantId, modelId, claim));
      const gone = rows.filter(({ namespace }) => namespace === null).map(({ memory_id }) => memory_id);
      if (gone.length > 0) await tx.query(deleteClaimedGaps(tenantId, modelId, claim.id, gone));
      if (rows.length < claim.limit) await tx.query(markCaughtUp(tenantId, modelId));
      return rows.flatMap(toClaimed);
    });
  }

  async renewClaim(
    tenantId: string,
    modelId: string,
    claim: { readonly id: string; readonly leaseMs: number },
  ): Promise<void> {
    await this.working(tenantId, (tx) => tx.query(extendClaim(tenantId, modelId, claim)));
  }

  async releaseClaim(tenantId: string, modelId: string, claimId: string): Promise<void> {
    await this.working(tenantId, (tx) => tx.query(endClaim(tenantId, modelId, claimId)));
  }

  settleEntries(
    tenantId: string,
    modelId: string,
    claimId: string,
    entries: readonly SettledEntry[],
  ): Promise<number> {
    return this.working(tenantId, async (tx) => {
      const embedded = entries.flatMap(toEmbedded);
      const others = entries.flatMap(toSettledGap);
      const namespaces = [...new Set(entries.map(({ namespace }) => namespace))];
      await tx.query(bumpNamespaces(tenantId, namespaces));
      if (embedded.length > 0) await tx.query(storeVectors(tenantId, modelId, embedded));
      const filled = embedded.map(({ memoryId }) => memoryId);
      const done = await tx.query(deleteClaimedGaps(tenantId, modelId, claimId, filled));
      const settled =
        others.length === 0 ? [] : await tx.query(settleGaps(tenantId, modelId, claimId, others));
      await tx.query(countSettled(tenantId, modelId, done.length + settled.length));
      await tx.query(forgetFailures(tenantId, modelId));
      return done.length + settled.length;
    });
  }

  async deferModel(
    tenantId: string,
    modelId: string,
    failure: { readonly message: string; readonly afterMs: number | null },
  ): Promise<void> {
    await this.working(tenantId, (tx) => tx.query(deferModel(tenantId, modelId, failure)));
  }

  requeueEntries(tenantId: string, memoryIds: readonly string[]): Promise<void> {
    return this.working(tenantId, async (tx) => {
      const plan = await readPlan(tx, tenantId);
      if (plan === null) return;
      const places = await tx.query<{ id: string; namespace: string }>(
        selectEntryPlaces(tenantId, memoryIds),
      );
      const gaps = places.flatMap(({ id, namespace }) =>
        plan.kept(namespace).map(({ model }) => ({ memoryId: id, namespace, modelId: model.modelId })),
      );
      if (gaps.length > 0) await tx.query(requeueVectors(tenantId, gaps));
    });
  }

  coverage(tenantId: string, jobId: string): Promise<CoverageCounts> {
    return this.working(tenantId, async (tx) => {
      const job = await readJobRow(tx, tenantId, jobId);
      const scope = await jobScope(tx, tenantId, job);
      const [counts] = await tx.query<CoverageRow>(selectCoverage(tenantId, job.model_id, scope));
      if (counts === undefined) throw new Error('The database counted nothing.');
      return { ...counts };
    });
  }

  sampleEntries(tenantId: string, jobId: string, count: number, seed: string): Promise<ClaimedEntry[]> {
    return this.working(tenantId, async (tx) => {
      const scope = await jobScope(tx, tenantId, await readJobRow(tx, tenantId, jobId));
      return (await tx.query<ClaimedRow>(selectSample(tenantId, scope, count, seed))).flatMap(toClaimed);
    });
  }

  nearestEntries(
    tenantId: string,
    jobId: string,
    query: {
      readonly modelId: string;
      readonly vector: Float32Array;
      readonly k: number;
      readonly now: number;
    },
  ): Promise<string[]> {
    return this.working(tenantId, async (tx) => {
      const scope = await jobScope(tx, tenantId, await readJobRow(tx, tenantId, jobId));
      const rows = await tx.query<{ id: string }>(selectNearestIds(tenantId, scope, query));
      return rows.map(({ id }) => id);
    });
  }

  unusedVectors(tenantId: string): Promise<{ modelId: string; count: number }[]> {
    return this.working(tenantId, async (tx) => {
      const counts: { modelId: string; count: number }[] = [];
      for (const [modelId, namespaces] of await readUnused(tx, tenantId)) {
        const [row] = await tx.query<{ vectors: number }>(countVectors(tenantId, modelId, namespaces));
        if (row !== undefined && row.vectors > 0) counts.push({ modelId, count: row.vectors });
      }
      return counts;
    });
  }

  purgeUnused(tenantId: string, limit: number): Promise<number> {
    return this.working(tenantId, async (tx) => {
      // A rollback that began in between would count on vectors and gaps that are about to go.
      await tx.query(shareModels(tenantId));
      let left = limit;
      for (const [modelId, namespaces] of await readUnused(tx, tenantId)) {
        await tx.query(deleteGaps(tenantId, modelId, namespaces));
        if (left > 0) left -= (await tx.query(deleteVectors(tenantId, modelId, namespaces, left))).length;
      }
      return limit - left;
    });
  }

  auditPurge(access: Access, removed: JsonObject, audit: AuditContext): Promise<void> {
    return this.database.as('palimpsest_embedding', access, (tx) =>
      recordDecision(tx, access, audit, 'purge_embeddings', removed),
    );
  }

  /** The server's own work on a tenant's vectors. */
  private working<T>(tenantId: string, work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    return this.database.as('palimpsest_embedding', systemAccess(tenantId), work);
  }

  /** A decision about models, which no write of the tenant overlaps. */
  private deciding<T>(access: Access, work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    return this.database.as('palimpsest_embedding', access, async (tx) => {
      await tx.query(lockModels(access.principal.tenantId));
      return work(tx);
    });
  }
}

async function readProgress(tx: SqlTransaction, tenantId: string, job: JobRow): Promise<ProgressRow> {
  const [row] = await tx.query<ProgressRow>(selectProgress(tenantId, job, await jobScope(tx, tenantId, job)));
  if (row === undefined) throw new Error('The database counted nothing.');
  return row;
}

function toProgress(job: JobRow, { entries, unseen, waiting, refused }: ProgressRow): JobProgress {
  const settled = Math.max(0, entries - unseen - waiting);
  const perSecond = rateOf(job);
  const { failures, retry_at: retryAt, last_error: message } = job;
  return {
    entries,
    settled,
    refused,
    perSecond,
    etaSeconds: perSecond === null || perSecond === 0 ? null : (entries - settled) / perSecond,
    outage: failures === 0 ? null : { failures, retryAt, message: message ?? '' },
  };
}

function rateOf({ run_started_at: from, run_updated_at: to, run_settled: settled }: JobRow): number | null {
  const seconds = from === null || to === null ? 0 : (to.getTime() - from.getTime()) / 1000;
  return seconds > 0 ? settled / seconds : null;
}

async function readUnused(tx: SqlTransaction, tenantId: string): Promise<Map<string, string[]>> {
  const models = await tx.query<{ model_id: string }>(selectModelIds(tenantId));
  const namespaces = await tx.query<{ path: string }>(selectNamespaces(tenantId, null));
  return unusedNamespaces(
    await readAssignments(tx, tenantId),
    models.map(({ model_id }) => model_id),
    namespaces.map(({ path }) => path),
  );
}

function toClaimed(row: ClaimedRow): ClaimedEntry[] {
  const { memory_id: memoryId, namespace, content_hash: contentHash, content, type, metadata } = row;
  if (namespace === null) return [];
  const source =
    row.source_kind === null ? null : { kind: row.source_kind, ref: row.source_ref ?? undefined };
  return [{ memoryId, namespace, contentHash, document: { content, type, metadata, source } }];
}

function toEmbedded({ memoryId, contentHash, outcome }: SettledEntry) {
  if (!('embedding' in outcome) || outcome.embedding.vector === null) return [];
  const { vector, coverage } = outcome.embedding;
  return [{ memoryId, contentHash, embedding: { vector, coverage } }];
}

function toSettledGap({ memoryId, outcome }: SettledEntry): { memoryId: string; error: string | null }[] {
  if (!('embedding' in outcome)) return [{ memoryId, error: outcome.refusal }];
  return outcome.embedding.vector === null ? [{ memoryId, error: null }] : [];
}

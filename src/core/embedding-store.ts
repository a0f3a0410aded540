import type { EmbeddingState, KnownModel } from './embedding-state.ts';
import type { AuditContext, EmbeddableDocument, Embedding, EmbeddingModel } from './ports.ts';
import type { Access, JsonObject } from './types.ts';

/**
 * Changing the model, and filling in the vectors that entries have not got yet. `store` implements the port at the
 * end; every method is one short transaction, so that a process may be killed between any two of them.
 *
 * - gap: an entry without a vector under a model it is kept under. `waiting`: still to be embedded. `empty`: the
 *   model found nothing to embed in it. `refused`: the model refuses this text.
 * - job: makes every entry of a scope have a vector (or a gap that is settled) under one model.
 */

/** `change`: then searches switch to the model. `fill`: it stays what it is, a fallback. */
export type EmbeddingJobKind = 'change' | 'fill';
export type EmbeddingJobStatus = 'running' | 'paused' | 'done' | 'cancelled';

export interface EmbeddingJob {
  readonly id: string;
  readonly kind: EmbeddingJobKind;
  /** `*`, a namespace, or a namespace and `.*`. */
  readonly scope: string;
  /** The model that entries are embedded under. */
  readonly model: KnownModel;
  readonly status: EmbeddingJobStatus;
  /** Whether whichever process completes it switches searches to the model, or somebody has to. */
  readonly switchesItself: boolean;
  /** Whether the vectors that the switch leaves unused are removed then. */
  readonly purgesOld: boolean;
  readonly createdBy: string;
  readonly createdAt: Date;
  /** When it was done or cancelled. */
  readonly finishedAt: Date | null;
  /** Whether every entry that was there at the start has been looked at. */
  readonly isScanned: boolean;
  /** The model that searches used before the switch; null before it, and where there was none. */
  readonly previousModel: KnownModel | null;
  /** What was found before the switch. */
  readonly verification: ChangeVerification | null;
}

/** How entries of a job's scope stand under its model. */
export interface CoverageCounts {
  /** All entries, superseded, expired and deleted ones too: they can be restored. */
  readonly entries: number;
  readonly vectors: number;
  readonly waiting: number;
  readonly empty: number;
  readonly refused: number;
  /** Entries with neither a vector nor a gap: not looked at yet. 0 once a job is scanned, or something is wrong. */
  readonly unseen: number;
}

/** How far a job is. Cheap enough to be asked every second; `CoverageCounts` are the proof. */
export interface JobProgress {
  /** All entries of its scope now. */
  readonly entries: number;
  /** Those that need nothing more: they have a vector, nothing to embed, or were refused. */
  readonly settled: number;
  readonly refused: number;
  /** Entries settled per second in the current run of work; null before anything was. */
  readonly perSecond: number | null;
  /** Seconds until it is complete at this rate; null where nobody knows. */
  readonly etaSeconds: number | null;
  /** Failures of the model in a row, and when it is asked again; null while it answers. */
  readonly outage: {
    readonly failures: number;
    readonly retryAt: Date | null;
    readonly message: string;
  } | null;
}

/** What stands between a complete job and its switch. */
export interface ChangeVerification {
  readonly counts: CoverageCounts;
  /** How far both models find the same: null where the old one can't be asked. */
  readonly overlap: {
    readonly k: number;
    readonly queries: number;
    /** Mean share of the k nearest under the old model that are among the k nearest under the new one. */
    readonly mean: number;
    readonly least: number;
  } | null;
  readonly verifiedAt: string;
}

export interface NewJob {
  readonly kind: EmbeddingJobKind;
  readonly scope: string;
  readonly modelId: string;
  readonly switchesItself: boolean;
  readonly purgesOld: boolean;
}

/** An entry to embed, claimed by one worker for a while. */
export interface ClaimedEntry {
  readonly memoryId: string;
  readonly namespace: string;
  /** Of the content that was read: what it is when the vector is stored decides whether that is still right. */
  readonly contentHash: string;
  readonly document: EmbeddableDocument;
}

/** What came of a claimed entry. */
export interface SettledEntry extends Pick<ClaimedEntry, 'memoryId' | 'namespace' | 'contentHash'> {
  readonly outcome: { readonly embedding: Embedding } | { readonly refusal: string };
}

/** A model with something to do for a tenant. */
export interface PendingModel {
  readonly tenantId: string;
  readonly model: KnownModel;
}

/** A model that this process is configured with, as it is made known to a tenant. */
export type ConfiguredModel = EmbeddingModel & Pick<KnownModel, 'settings'>;

export interface EmbeddingStore {
  embeddingState(tenantId: string): Promise<EmbeddingState>;
  /**
   * Makes models known, and gives them their roles where nobody has decided otherwise: the primary becomes active
   * for a tenant without entries; for one that has entries but no model a job is started that switches when it is
   * complete. A fallback of the active model is kept from now on, and a job fills it.
   *
   * @throws PalimpsestError `conflict` for other dimensions of a known model
   */
  adoptModels(tenantId: string, models: readonly ConfiguredModel[], now: number): Promise<EmbeddingState>;
  /** Makes a model known without a role. */
  registerModel(tenantId: string, model: KnownModel): Promise<void>;

  /**
   * Starts a job, or gives the open one of the same scope and model.
   *
   * @throws PalimpsestError `conflict` while another change is open, or where the scope has this model already
   */
  startJob(access: Access, job: NewJob, audit: AuditContext): Promise<EmbeddingJob>;
  /** Newest first. */
  listJobs(tenantId: string): Promise<EmbeddingJob[]>;
  jobProgress(tenantId: string, jobId: string): Promise<JobProgress>;
  /** @throws PalimpsestError `conflict` for a job that is over */
  pauseJob(access: Access, jobId: string, audit: AuditContext): Promise<EmbeddingJob>;
  resumeJob(access: Access, jobId: string, audit: AuditContext): Promise<EmbeddingJob>;
  /** Gives a change up; nothing of it is searched. Its vectors stay until they are purged. */
  cancelJob(access: Access, jobId: string, audit: AuditContext): Promise<EmbeddingJob>;
  /** Asks the model again for the texts it refused. */
  retryRefused(access: Access, jobId: string, audit: AuditContext): Promise<number>;
  keepVerification(tenantId: string, jobId: string, verification: ChangeVerification): Promise<void>;
  /**
   * Ends a job: a change switches its scope to the model, a fill is over. One transaction, under a lock that no
   * write overlaps.
   *
   * @throws PalimpsestError `conflict` while entries are missing, unless `accepts` names them, and always while some
   *   have not been looked at
   */
  finishJob(
    access: Access,
    jobId: string,
    accepts: { readonly refused: boolean; readonly waiting: boolean },
    audit: AuditContext,
  ): Promise<EmbeddingJob>;

  /** Models of any tenant that have entries waiting, or jobs to look through, and are not to be left alone now. */
  pendingModels(): Promise<PendingModel[]>;
  /** Looks through the next entries of a model's jobs. False when there are none left. */
  scanNext(tenantId: string, modelId: string, limit: number): Promise<boolean>;
  /** Entries to embed that nobody else has claimed, for so many milliseconds. Empty too where the job is paused. */
  claimEntries(
    tenantId: string,
    modelId: string,
    claim: { readonly id: string; readonly limit: number; readonly leaseMs: number },
  ): Promise<ClaimedEntry[]>;
  renewClaim(
    tenantId: string,
    modelId: string,
    claim: { readonly id: string; readonly leaseMs: number },
  ): Promise<void>;
  /** Gives back what a claim has not settled. */
  releaseClaim(tenantId: string, modelId: string, claimId: string): Promise<void>;
  /** Stores vectors of entries whose content is still the same. Gives how many were settled. */
  settleEntries(
    tenantId: string,
    modelId: string,
    claimId: string,
    entries: readonly SettledEntry[],
  ): Promise<number>;
  /**
   * Leaves a model alone for a while after it failed as a whole; longer with each failure in a row, and at least
   * `afterMs`, of which no more than `MAX_SERVICE_PAUSE_MS` are granted.
   */
  deferModel(
    tenantId: string,
    modelId: string,
    failure: { readonly message: string; readonly afterMs: number | null },
  ): Promise<void>;
  /** Marks entries as waiting under every model they are kept under, whether they have a vector or not. */
  requeueEntries(tenantId: string, memoryIds: readonly string[]): Promise<void>;

  /** Every entry of a job's scope by what it has under the job's model. */
  coverage(tenantId: string, jobId: string): Promise<CoverageCounts>;
  /** Some entries of a job's scope, the same ones for the same seed. */
  sampleEntries(tenantId: string, jobId: string, count: number, seed: string): Promise<ClaimedEntry[]>;
  /** Ids of the k nearest live entries of a job's scope under a model, the nearest first. */
  nearestEntries(
    tenantId: string,
    jobId: string,
    query: {
      readonly modelId: string;
      readonly vector: Float32Array;
      readonly k: number;
      readonly now: number;
    },
  ): Promise<string[]>;
  /** Vectors by model that no search uses and no write keeps. */
  unusedVectors(tenantId: string): Promise<{ readonly modelId: string; readonly count: number }[]>;
  /** Removes some of them, at most `limit`; gives how many. 0: there are none left. */
  purgeUnused(tenantId: string, limit: number): Promise<number>;
  /** Notes that somebody removed unused vectors. */
  auditPurge(access: Access, removed: JsonObject, audit: AuditContext): Promise<void>;
}

import { inCodeNames } from '../contract/code-names.ts';
import {
  configuredChangeSchema,
  rollbackRequestSchema,
  switchRequestSchema,
  verifyRequestSchema,
} from '../contract/embedding-job.ts';
import type {
  JsonObjectInput,
  ModelChangeInput,
  RollbackInput,
  SwitchInput,
  VerifyInput,
} from '../contract/inputs.ts';
import { parseContract } from '../contract/parse-contract.ts';
import { requestToWire } from '../contract/wire-form.ts';
import type { ChangeVerification, EmbeddingJob, JobProgress } from '../core/embedding-store.ts';
import type { EmbeddingStatus, JobState, ReembedService } from '../service/reembed-service.ts';
import type { RequestContext } from '../service/request-context.ts';

/** A change whose provider may come with its whole configuration, in the field `provider` of which is its name. */
export type ConfiguredChangeInput = Omit<ModelChangeInput, 'to'> & {
  readonly to?: string | JsonObjectInput | undefined;
};

export interface RunChangeOptions {
  /** Batches at a time, 1 or more. Default 1: a local model has one thread anyway. */
  readonly workers?: number | undefined;
  /** Stops working; the change stays as it is, for any process to go on with. */
  readonly signal?: AbortSignal | undefined;
  /** Told about twice a second how far it is. */
  readonly onProgress?: ((progress: JobProgress, job: EmbeddingJob) => void) | undefined;
}

/**
 * Changes of the embedding model while everything runs. Every entry is embedded under the new model beside the old
 * one; searches use the old one until that is complete and verified, then the new one, at once in every process.
 * Where a job's id may be left out, the change that is open is meant.
 */
export class ModelChanges {
  readonly #service: ReembedService;
  readonly #context: RequestContext;

  constructor(service: ReembedService, context: RequestContext) {
    this.#service = service;
    this.#context = context;
  }

  status(): Promise<EmbeddingStatus> {
    return this.#service.status(this.#context);
  }

  /** A job, with its progress while it is not over. @throws PalimpsestError `not_found` */
  job(id: string): Promise<JobState> {
    return this.#service.job(this.#context, id);
  }

  /** Starts a change, or gives the one to the same model that is under way. It goes on in the background. */
  async start(input: ConfiguredChangeInput = {}): Promise<EmbeddingJob> {
    const wire = requestToWire(configuredChangeSchema, input, 'embeddings.start');
    return inCodeNames(() => this.#service.start(this.#context, parseContract(configuredChangeSchema, wire)));
  }

  /** Works on a change too, until it is over, or complete and for somebody to switch. */
  run(jobId?: string, options: RunChangeOptions = {}): Promise<JobState> {
    return this.#service.run(this.#context, jobId, options);
  }

  /** Counts, and compares what both models find; changes nothing that is searched. */
  async verify(jobId?: string, input: VerifyInput = {}): Promise<ChangeVerification> {
    const wire = requestToWire(verifyRequestSchema, input, 'embeddings.verify');
    return inCodeNames(() =>
      this.#service.verify(this.#context, jobId, parseContract(verifyRequestSchema, wire)),
    );
  }

  /** @throws PalimpsestError `conflict` while entries are missing, or refused and not accepted as such */
  async switchOver(jobId?: string, input: SwitchInput = {}): Promise<EmbeddingJob> {
    const wire = requestToWire(switchRequestSchema, input, 'embeddings.switchOver');
    return inCodeNames(() =>
      this.#service.switchOver(this.#context, jobId, parseContract(switchRequestSchema, wire)),
    );
  }

  pause(jobId?: string): Promise<EmbeddingJob> {
    return this.#service.pause(this.#context, jobId);
  }

  resume(jobId?: string): Promise<EmbeddingJob> {
    return this.#service.resume(this.#context, jobId);
  }

  /** Gives a change up. Searches stay with the model they use. */
  cancel(jobId?: string): Promise<EmbeddingJob> {
    return this.#service.cancel(this.#context, jobId);
  }

  /** Asks the model again for the entries it refused; gives how many. */
  retryRefused(jobId?: string): Promise<number> {
    return this.#service.retryRefused(this.#context, jobId);
  }

  /** Changes back to the model before the last change. */
  async rollBack(input: RollbackInput = {}): Promise<EmbeddingJob> {
    const wire = requestToWire(rollbackRequestSchema, input, 'embeddings.rollBack');
    return inCodeNames(() =>
      this.#service.rollBack(this.#context, parseContract(rollbackRequestSchema, wire)),
    );
  }

  /** Removes vectors that nothing uses any more; gives how many. A rollback then embeds anew. */
  purge(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<number> {
    return this.#service.purge(this.#context, options);
  }
}

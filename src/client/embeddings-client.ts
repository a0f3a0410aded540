import type { ModelChangeInput, RollbackInput, SwitchInput, VerifyInput } from '../contract/inputs.ts';
import { ROUTES } from '../contract/routes/routes.ts';
import type { Answer } from './answer.ts';
import { bodyOf, type CallOptions, type Transport } from './transport.ts';

/** Which models search, and changes of them. */
export class EmbeddingsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  status(options?: CallOptions): Promise<Answer<'getEmbeddings'>> {
    return this.#transport.call(ROUTES.getEmbeddings, {}, options);
  }

  /** Starts a change, or gives the one to the same model that is under way. It goes on by itself. */
  async start(input: ModelChangeInput = {}, options?: CallOptions): Promise<Answer<'startEmbeddingJob'>> {
    const body = await bodyOf(ROUTES.startEmbeddingJob.body, input, 'embeddings.start');
    return this.#transport.call(ROUTES.startEmbeddingJob, { body }, options);
  }

  /** A job, with its progress while it is not over. */
  job(id: string, options?: CallOptions): Promise<Answer<'getEmbeddingJob'>> {
    return this.#transport.call(ROUTES.getEmbeddingJob, { params: { id } }, options);
  }

  /** Counts, and compares what both models find; changes nothing that is searched. */
  async verify(
    id: string,
    input: VerifyInput = {},
    options?: CallOptions,
  ): Promise<Answer<'verifyEmbeddingJob'>> {
    const body = await bodyOf(ROUTES.verifyEmbeddingJob.body, input, 'embeddings.verify');
    return this.#transport.call(ROUTES.verifyEmbeddingJob, { params: { id }, body }, options);
  }

  /** Lets searches use the model of a complete change. */
  async switchOver(
    id: string,
    input: SwitchInput = {},
    options?: CallOptions,
  ): Promise<Answer<'switchEmbeddingJob'>> {
    const body = await bodyOf(ROUTES.switchEmbeddingJob.body, input, 'embeddings.switchOver');
    return this.#transport.call(ROUTES.switchEmbeddingJob, { params: { id }, body }, options);
  }

  pause(id: string, options?: CallOptions): Promise<Answer<'pauseEmbeddingJob'>> {
    return this.#transport.call(ROUTES.pauseEmbeddingJob, { params: { id } }, options);
  }

  resume(id: string, options?: CallOptions): Promise<Answer<'resumeEmbeddingJob'>> {
    return this.#transport.call(ROUTES.resumeEmbeddingJob, { params: { id } }, options);
  }

  /** Gives a change up. Searches stay with the model they use. */
  cancel(id: string, options?: CallOptions): Promise<Answer<'cancelEmbeddingJob'>> {
    return this.#transport.call(ROUTES.cancelEmbeddingJob, { params: { id } }, options);
  }

  /** Asks the model again for the entries it refused; gives how many. */
  async retryRefused(id: string, options?: CallOptions): Promise<number> {
    return (await this.#transport.call(ROUTES.retryRefusedEntries, { params: { id } }, options)).retried;
  }

  /** Changes back to the model before the last change. */
  async rollBack(input: RollbackInput = {}, options?: CallOptions): Promise<Answer<'rollBackEmbeddings'>> {
    const body = await bodyOf(ROUTES.rollBackEmbeddings.body, input, 'embeddings.rollBack');
    return this.#transport.call(ROUTES.rollBackEmbeddings, { body }, options);
  }

  /** Removes vectors that nothing uses any more; gives how many. */
  async purge(options?: CallOptions): Promise<number> {
    return (await this.#transport.call(ROUTES.purgeEmbeddings, {}, options)).removed;
  }
}

import { ROUTES } from '../contract/routes/routes.ts';
import type { Answer } from './answer.ts';
import type { TraceFilterInput, TracesInput } from './inputs.ts';
import { type CallOptions, queryOf, type Transport } from './transport.ts';

/** How searches came to their results. */
export class TracesClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** One page of traces, newest first. */
  async list(input: TracesInput = {}, options?: CallOptions): Promise<Answer<'listTraces'>> {
    const query = await queryOf(ROUTES.listTraces.query, input, 'traces.list');
    return this.#transport.call(ROUTES.listTraces, { query }, options);
  }

  get(id: string, options?: CallOptions): Promise<Answer<'getTrace'>> {
    return this.#transport.call(ROUTES.getTrace, { params: { id } }, options);
  }

  /** Every trace, newest first, as a stream. */
  async *export(input: TraceFilterInput = {}, options?: CallOptions): AsyncGenerator<Answer<'exportTraces'>> {
    const query = await queryOf(ROUTES.exportTraces.query, input, 'traces.export');
    yield* this.#transport.lines(ROUTES.exportTraces, { query }, options);
  }
}

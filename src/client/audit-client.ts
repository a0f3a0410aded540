import { ROUTES } from '../contract/routes/routes.ts';
import type { Answer } from './answer.ts';
import type { AuditFilterInput, AuditInput } from './inputs.ts';
import { type CallOptions, queryOf, type Transport } from './transport.ts';

/** Who read, wrote, decided and was refused. */
export class AuditClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** One page of records, newest first. */
  async list(input: AuditInput = {}, options?: CallOptions): Promise<Answer<'listAudit'>> {
    const query = await queryOf(ROUTES.listAudit.query, input, 'audit.list');
    return this.#transport.call(ROUTES.listAudit, { query }, options);
  }

  /** Every record, newest first, as a stream. */
  async *export(input: AuditFilterInput = {}, options?: CallOptions): AsyncGenerator<Answer<'exportAudit'>> {
    const query = await queryOf(ROUTES.exportAudit.query, input, 'audit.export');
    yield* this.#transport.lines(ROUTES.exportAudit, { query }, options);
  }
}

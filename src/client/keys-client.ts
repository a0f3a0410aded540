import { ROUTES } from '../contract/routes/routes.ts';
import type { Answer } from './answer.ts';
import type { KeyInput } from './inputs.ts';
import { bodyOf, type CallOptions, type Transport } from './transport.ts';

/** API keys. */
export class KeysClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Makes a key. Its secret is in this answer and nowhere else. */
  async create(key: KeyInput, options?: Pick<CallOptions, 'signal'>): Promise<Answer<'createKey'>> {
    const body = await bodyOf(ROUTES.createKey.body, key, 'keys.create');
    return this.#transport.call(ROUTES.createKey, { body }, options);
  }

  async list(options?: CallOptions): Promise<Answer<'listKeys'>['keys']> {
    return (await this.#transport.call(ROUTES.listKeys, {}, options)).keys;
  }

  revoke(id: string, options?: CallOptions): Promise<Answer<'revokeKey'>> {
    return this.#transport.call(ROUTES.revokeKey, { params: { id } }, options);
  }
}

import { ROUTES } from '../contract/routes/routes.ts';
import type { Answer } from './answer.ts';
import type { ProfileInput } from './inputs.ts';
import { bodyOf, type CallOptions, type Transport } from './transport.ts';

/** Ranking profiles. */
export class ProfilesClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(options?: CallOptions): Promise<Answer<'listProfiles'>['profiles']> {
    return (await this.#transport.call(ROUTES.listProfiles, {}, options)).profiles;
  }

  get(name: string, options?: CallOptions): Promise<Answer<'getProfile'>> {
    return this.#transport.call(ROUTES.getProfile, { params: { name } }, options);
  }

  async put(name: string, profile: ProfileInput, options?: CallOptions): Promise<Answer<'putProfile'>> {
    const body = await bodyOf(ROUTES.putProfile.body, profile, 'profiles.put');
    return this.#transport.call(ROUTES.putProfile, { params: { name }, body }, options);
  }

  delete(name: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(ROUTES.deleteProfile, { params: { name } }, options);
  }
}

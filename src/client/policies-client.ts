import { ROUTES } from '../contract/routes/routes.ts';
import type { PolicySubject } from '../core/policy.ts';
import type { Answer } from './answer.ts';
import type { PolicyInput } from './inputs.ts';
import { bodyOf, type CallOptions, type Transport } from './transport.ts';

const POLICY_ROUTES = {
  agent: { get: ROUTES.getAgentPolicy, put: ROUTES.putAgentPolicy, delete: ROUTES.deleteAgentPolicy },
  task: { get: ROUTES.getTaskPolicy, put: ROUTES.putTaskPolicy, delete: ROUTES.deleteTaskPolicy },
};

/** What agents and tasks may do. */
export class PoliciesClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(options?: CallOptions): Promise<Answer<'listPolicies'>['policies']> {
    return (await this.#transport.call(ROUTES.listPolicies, {}, options)).policies;
  }

  get({ kind, id }: PolicySubject, options?: CallOptions): Promise<Answer<'getAgentPolicy'>> {
    return this.#transport.call(POLICY_ROUTES[kind].get, { params: { id } }, options);
  }

  async put(
    { kind, id }: PolicySubject,
    policy: PolicyInput,
    options?: CallOptions,
  ): Promise<Answer<'putAgentPolicy'>> {
    const body = await bodyOf(POLICY_ROUTES[kind].put.body, policy, 'policies.put');
    return this.#transport.call(POLICY_ROUTES[kind].put, { params: { id }, body }, options);
  }

  delete({ kind, id }: PolicySubject, options?: CallOptions): Promise<void> {
    return this.#transport.call(POLICY_ROUTES[kind].delete, { params: { id } }, options);
  }
}

import type { RuleInput } from '../contract/inputs.ts';
import { ROUTES } from '../contract/routes/routes.ts';
import type { Answer } from './answer.ts';
import type { RulePreviewInput } from './inputs.ts';
import { bodyOf, type CallOptions, queryOf, type Transport } from './transport.ts';

/** Rules that give bonuses and instructions to namespaces. */
export class RulesClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(options?: CallOptions): Promise<Answer<'listRules'>['rules']> {
    return (await this.#transport.call(ROUTES.listRules, {}, options)).rules;
  }

  /** Makes the rule of this pattern, or replaces it. */
  async put(rule: RuleInput, options?: CallOptions): Promise<Answer<'putRule'>> {
    const body = await bodyOf(ROUTES.putRule.body, rule, 'rules.put');
    return this.#transport.call(ROUTES.putRule, { body }, options);
  }

  async delete(pattern: string, options?: CallOptions): Promise<void> {
    const query = await queryOf(ROUTES.deleteRule.query, { pattern }, 'rules.delete');
    return this.#transport.call(ROUTES.deleteRule, { query }, options);
  }

  /** What a rule would do if it were saved now. */
  async preview(input: RulePreviewInput, options?: CallOptions): Promise<Answer<'previewRule'>> {
    const body = await bodyOf(ROUTES.previewRule.body, input, 'rules.preview');
    return this.#transport.call(ROUTES.previewRule, { body }, options);
  }
}

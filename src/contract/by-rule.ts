import { z } from 'zod';
import { type ErrorDetail, PalimpsestError } from '../core/errors.ts';

/** Where a rule's refusal travels inside a zod issue, see `parse-contract.ts`. */
export interface RuleIssueParams {
  readonly detail: ErrorDetail;
}

/**
 * Makes a zod transform of a rule that the core owns: `z.string().transform(byRule(checkContent, 'content'))`.
 *
 * @param rule - Returns the value, or throws `invalid_input`.
 * @param field - The field's full name as errors call it.
 */
export function byRule<In, Out>(rule: (value: In, field: string) => Out, field: string) {
  return (value: In, context: z.RefinementCtx): Out => {
    try {
      return rule(value, field);
    } catch (error) {
      if (!PalimpsestError.isInstance(error)) throw error;
      const params: RuleIssueParams = { detail: error.details[0] ?? { path: field } };
      context.addIssue({ code: 'custom', message: error.message, params: { ...params } });
      return z.NEVER;
    }
  };
}

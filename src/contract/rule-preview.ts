import { z } from 'zod';
import { MAX_TOP_K, MIN_TOP_K } from '../core/defaults.ts';
import type { RankedHit } from '../core/types.ts';
import { namespacesField, queryField } from './fields.ts';
import { bonusField, rulePatternField } from './namespace-rule.ts';
import { shownRankedHit, wireRankedHitSchema } from './ranking-trace.ts';
import type { InCode } from './wire-form.ts';

/** A rule that is not saved yet, and a query to try it on. */
export const rulePreviewRequestSchema = z
  .strictObject({
    pattern: rulePatternField,
    bonus: bonusField.optional(),
    query: queryField.optional(),
    namespaces: namespacesField.optional(),
    profile: z.string().optional(),
    top_k: z.number().meta({ type: 'integer', minimum: MIN_TOP_K, maximum: MAX_TOP_K }).optional(),
  })
  .transform(({ top_k: topK, ...same }) => ({ ...same, topK }));

/** What the rule would do if it were saved now. */
export const wireRulePreviewSchema = z
  .strictObject({
    namespaces: z
      .array(z.strictObject({ path: z.string(), live_count: z.int() }))
      .meta({ description: 'Namespaces it covers, of those you may read, by path; the first 100.' }),
    namespace_count: z.int(),
    entry_count: z.int().meta({ description: 'Entries in them that a search can find.' }),
    ranking: z
      .strictObject({
        before: z.array(wireRankedHitSchema),
        after: z.array(wireRankedHitSchema),
      })
      .nullable()
      .meta({ description: "The query's hits without and with the rule; null without a query." }),
  })
  .meta({ id: 'RulePreview' });

interface RulePreview {
  readonly namespaces: readonly { readonly path: string; readonly liveCount: number }[];
  readonly namespaceCount: number;
  readonly entryCount: number;
  readonly ranking: { readonly before: readonly RankedHit[]; readonly after: readonly RankedHit[] } | null;
}

export function shownRulePreview(preview: RulePreview): InCode<typeof wireRulePreviewSchema> {
  const { ranking } = preview;
  if (ranking === null) return { ...preview, ranking };
  return {
    ...preview,
    ranking: { before: ranking.before.map(shownRankedHit), after: ranking.after.map(shownRankedHit) },
  };
}

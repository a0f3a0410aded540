import { DEFAULT_PROFILE, MAX_PAGE_SIZE } from '../../core/defaults.ts';
import { checkQueryText } from '../../core/entry.ts';
import { excerpt, invalidInput } from '../../core/errors.ts';
import type { NamespaceReport } from '../../core/governance.ts';
import { parsePattern, ruleMatcher } from '../../core/namespace.ts';
import { resolveRankingParameters } from '../../core/ranking/parameters.ts';
import type { NamespaceRule } from '../../core/types.ts';
import { readMeasured } from '../embeddings/read-measured.ts';
import { fetchRanked } from '../fetch-ranked.ts';
import { noteOthersRead, noteOutOfReach } from '../note-read.ts';
import { profileNamed } from '../ranking-profile.ts';
import type { RequestContext } from '../request-context.ts';
import { requestPolicy } from '../request-policy.ts';
import type { ServiceState } from '../service-parts.ts';
import type { RulePreview, RulePreviewRequest } from './model.ts';

/** Namespaces a preview lists; it counts all of them. */
const SHOWN_NAMESPACES = 100;

/**
 * What a rule would do if it were saved now: which namespaces it covers, and how a query ranks without and with
 * it. Reads what the asker may read, and changes nothing.
 */
export async function previewRule(
  state: ServiceState,
  context: RequestContext,
  request: RulePreviewRequest,
): Promise<RulePreview> {
  const pattern = parsePattern(request.pattern);
  const bonus = checkBonus(request.bonus ?? 0);
  if (request.query !== undefined) checkQueryText(request.query);
  const covered = await coveredNamespaces(state, context, pattern);
  return {
    namespaces: covered.slice(0, SHOWN_NAMESPACES).map(({ path, liveCount }) => ({ path, liveCount })),
    namespaceCount: covered.length,
    entryCount: covered.reduce((sum, { liveCount }) => sum + liveCount, 0),
    ranking:
      request.query === undefined
        ? null
        : await rankingBeforeAndAfter(state, context, request, request.query, { pattern, bonus }),
  };
}

function checkBonus(bonus: number): number {
  if (bonus >= 0 && bonus <= 1) return bonus;
  throw invalidInput(`bonus is ${excerpt(bonus)}; allowed is a number in [0, 1].`, {
    path: 'bonus',
    got: excerpt(bonus),
    allowed: 'a number in [0, 1]',
  });
}

async function coveredNamespaces(
  { governance, clock }: ServiceState,
  context: RequestContext,
  pattern: string,
): Promise<NamespaceReport[]> {
  const { asking, applied } = requestPolicy(context, 'read');
  const covers = ruleMatcher(pattern);
  const covered: NamespaceReport[] = [];
  let after: string | null = null;
  do {
    const page: NamespaceReport[] = await governance.reportNamespaces(asking, () => ({
      scope: applied().defaultScope,
      now: clock(),
      limit: MAX_PAGE_SIZE,
      after,
    }));
    covered.push(...page.filter(({ path }) => covers(path)));
    after = page.length < MAX_PAGE_SIZE ? null : (page.at(-1)?.path ?? null);
  } while (after !== null);
  return covered;
}

async function rankingBeforeAndAfter(
  state: ServiceState,
  context: RequestContext,
  request: RulePreviewRequest,
  query: string,
  rule: { readonly pattern: string; readonly bonus: number },
): Promise<NonNullable<RulePreview['ranking']>> {
  resolveRankingParameters(DEFAULT_PROFILE, { topK: request.topK });
  const now = state.clock();
  const { asking, applied } = requestPolicy(context, 'read');
  const { tenantId } = context.access.principal;
  let looked: string[] = [];
  const ranking = await readMeasured(state, tenantId, asking, query, {
    embed: (work) => work(),
    work: async (view, measure) => {
      const profile = await profileNamed(state.profiles, view, request.profile ?? state.defaultProfile);
      const namespaces = await view.namespaces(request.namespaces ?? applied().defaultScope);
      const saved = await view.rules();
      looked = namespaces.map(({ path }) => path);
      const { sources } = await measure(looked);
      const ranked = async (rules: readonly NamespaceRule[]) => {
        const { outcome } = await fetchRanked(view, {
          sources,
          filter: {},
          now,
          ranking: {
            ...resolveRankingParameters(profile, { topK: request.topK }),
            profile,
            rules,
            hasQuery: true,
            now,
            cutLimit: 0,
          },
        });
        return outcome.hits;
      };
      return { before: await ranked(saved), after: await ranked(withRule(saved, rule, now)) };
    },
  });
  noteOutOfReach(state, context, {
    operation: 'preview_rule',
    access: applied().access,
    scope: request.namespaces,
  });
  await noteOthersRead(state, context, { operation: 'preview_rule', namespaces: async () => looked });
  return ranking;
}

/** The rules as they would be: a rule of the same pattern is replaced. */
function withRule(
  rules: readonly NamespaceRule[],
  { pattern, bonus }: { readonly pattern: string; readonly bonus: number },
  now: number,
): NamespaceRule[] {
  const others = rules.filter((rule) => rule.pattern !== pattern);
  const time = new Date(now);
  return [
    ...others,
    { pattern, bonus, description: null, instructionTemplate: null, createdAt: time, updatedAt: time },
  ];
}

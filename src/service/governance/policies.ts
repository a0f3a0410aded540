import { MIN_TOP_K } from '../../core/defaults.ts';
import { checkWord } from '../../core/entry.ts';
import { excerpt, invalidInput, PalimpsestError } from '../../core/errors.ts';
import { fillPattern, POLICY_VARIABLES, parseNamespacePath, parseScope } from '../../core/namespace.ts';
import type { MemoryPolicy, PolicySubject, StoredPolicy } from '../../core/policy.ts';
import { resolveRankingParameters } from '../../core/ranking/parameters.ts';
import type { RankingProfile } from '../../core/types.ts';
import { profileNamed } from '../ranking-profile.ts';
import type { RequestContext } from '../request-context.ts';
import type { ServiceState } from '../service-parts.ts';
import { cutoffWarnings, type Warning } from '../warning.ts';
import type { Kept, PolicyDraft } from './model.ts';

/** Longest id of an agent or a task, in code points: it may become a segment. */
const MAX_SUBJECT_ID_LENGTH = 128;
/** Longest memory block a policy may ask for, in tokens: more than any model's context. */
const MAX_TOKEN_BUDGET = 10_000_000;

export async function getPolicy(
  { governance }: ServiceState,
  { access }: RequestContext,
  subject: PolicySubject,
): Promise<StoredPolicy> {
  const policy = await governance.findPolicy(access, checkSubject(subject));
  if (policy === null) throw noPolicy(subject);
  return policy;
}

export async function putPolicy(
  state: ServiceState,
  { access }: RequestContext,
  subject: PolicySubject,
  draft: PolicyDraft,
): Promise<Kept<StoredPolicy>> {
  const { governance, store, clock } = state;
  const checked = checkPolicy(draft);
  const { profile } = checked;
  if (profile !== null) await store.read(access, (view) => profileNamed(state.profiles, view, profile));
  const value = await governance.putPolicy(access, checkSubject(subject), checked, clock());
  return { value, warnings: policyWarnings(value) };
}

export async function deletePolicy(
  { governance, clock }: ServiceState,
  { access }: RequestContext,
  subject: PolicySubject,
): Promise<void> {
  const wasThere = await governance.deletePolicy(access, checkSubject(subject), clock());
  if (!wasThere) throw noPolicy(subject);
}

function policyWarnings(policy: MemoryPolicy): Warning[] {
  const readsNothing: Warning = {
    code: 'reads_nothing',
    message: 'read_namespaces is empty: under this policy, a search that names no namespaces finds nothing.',
  };
  return [
    ...cutoffWarnings(policy.relativeCutoff),
    ...(policy.readNamespaces.length === 0 ? [readsNothing] : []),
  ];
}

function checkSubject({ kind, id }: PolicySubject): PolicySubject {
  return { kind, id: checkWord(id, `${kind}_id`, MAX_SUBJECT_ID_LENGTH) };
}

function noPolicy({ kind, id }: PolicySubject): PalimpsestError {
  return new PalimpsestError('not_found', `The ${kind} ${excerpt(id)} has no policy.`, {
    details: [{ path: `${kind}_id`, got: excerpt(id) }],
  });
}

/** Any profile: only the numbers that are set are looked at. */
const ANY_PROFILE: RankingProfile = {
  kind: 'boosted',
  name: 'any',
  recencyDecay: 0,
  minScore: 0,
  relativeCutoff: 0,
  topK: MIN_TOP_K,
};

/**
 * A policy complete and checked.
 *
 * @throws PalimpsestError `invalid_input`
 */
function checkPolicy(draft: PolicyDraft): MemoryPolicy {
  const { topK = null, minScore = null, relativeCutoff = null, tokenBudget = null } = draft;
  resolveRankingParameters(ANY_PROFILE, {
    topK: topK ?? undefined,
    minScore: minScore ?? undefined,
    relativeCutoff: relativeCutoff ?? undefined,
  });
  if (
    tokenBudget !== null &&
    !(Number.isInteger(tokenBudget) && tokenBudget >= 0 && tokenBudget <= MAX_TOKEN_BUDGET)
  ) {
    throw invalidInput(
      `token_budget is ${excerpt(tokenBudget)}; allowed is a whole number from 0 to ${MAX_TOKEN_BUDGET}.`,
      {
        path: 'token_budget',
        got: excerpt(tokenBudget),
        allowed: `a whole number from 0 to ${MAX_TOKEN_BUDGET}`,
      },
    );
  }
  const writeNamespace = draft.writeNamespace ?? null;
  return {
    readNamespaces: checkPatterns(draft.readNamespaces ?? [], 'read_namespaces'),
    writeNamespace: writeNamespace === null ? null : checkWriteNamespace(writeNamespace),
    allowedWriteNamespaces: checkPatterns(draft.allowedWriteNamespaces ?? [], 'allowed_write_namespaces'),
    allowWrite: draft.allowWrite ?? false,
    allowToolWrite: draft.allowToolWrite ?? false,
    allowToolDelete: draft.allowToolDelete ?? false,
    profile: draft.profile ?? null,
    topK,
    minScore,
    relativeCutoff,
    tokenBudget,
  };
}

function checkPatterns(patterns: readonly string[], field: string): string[] {
  return patterns.length === 0 ? [] : parseScope(patterns, field);
}

/** A path once its variables are filled in: of several namespaces, no draft could be placed in one. */
function checkWriteNamespace(pattern: string): string {
  const sample = Object.fromEntries(POLICY_VARIABLES.map((name) => [name, 'x']));
  try {
    parseNamespacePath(fillPattern(pattern, sample), 'write_namespace');
  } catch (error) {
    if (!PalimpsestError.isInstance(error)) throw error;
    const variables = POLICY_VARIABLES.map((name) => `\${${name}}`).join(', ');
    throw invalidInput(
      `write_namespace: ${excerpt(pattern)} is not one namespace. Allowed: a path, in which ${variables} may stand for segments.`,
      { path: 'write_namespace', got: excerpt(pattern), allowed: `a path with ${variables}` },
    );
  }
  return pattern;
}

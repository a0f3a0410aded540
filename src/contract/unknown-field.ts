import type { ErrorDetail } from '../core/errors.ts';
import { nearestName } from '../core/nearest-name.ts';
import { shortName } from './field-path.ts';

const PROFILE_HINT =
  'Ranking parameters are kept by the server, so that scores stay comparable between calls. Name one of its profiles with profile.';
const IDENTITY_HINT = 'Whose data this is follows from who is asking, never from what the request says.';
const SERVER_HINT = 'The server sets this field.';

/** Fields a caller might well expect, and why they are not accepted. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  weights: PROFILE_HINT,
  weight: PROFILE_HINT,
  recency_decay: PROFILE_HINT,
  half_life_days: PROFILE_HINT,
  frequency_saturation: PROFILE_HINT,
  bonus: PROFILE_HINT,
  bonuses: PROFILE_HINT,
  priorities: PROFILE_HINT,
  tenant_id: IDENTITY_HINT,
  owner_id: IDENTITY_HINT,
  user_id: IDENTITY_HINT,
  created_by: IDENTITY_HINT,
  id: SERVER_HINT,
  content_hash: SERVER_HINT,
  status: `${SERVER_HINT} Use confirm, unconfirm or supersede.`,
  confirmed_at: SERVER_HINT,
  confirmed_by: SERVER_HINT,
  superseded_by: SERVER_HINT,
  superseded_at: SERVER_HINT,
  created_at: `${SERVER_HINT} The time a fact was true or seen is observed_at.`,
  updated_at: SERVER_HINT,
  deleted_at: SERVER_HINT,
  access_count: `${SERVER_HINT} Counters move by feedback alone.`,
  validated_access_count: `${SERVER_HINT} Counters move by feedback alone.`,
  version: SERVER_HINT,
};

/** Error detail and message for a field that is not accepted at this place. */
export function unknownField(
  path: string,
  name: string,
  known: readonly string[],
): { message: string; detail: ErrorDetail } {
  const hint = hintFor(name, known);
  return {
    message: `${path}: this field is unknown. ${hint ?? `Allowed: ${known.join(', ')}.`}`,
    detail: { path, got: shortName(name), allowed: [...known], hint },
  };
}

function hintFor(name: string, known: readonly string[]): string | undefined {
  const wireName = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (Object.hasOwn(EXPLANATIONS, wireName)) return EXPLANATIONS[wireName];
  const nearest = nearestName(name, known);
  return nearest === null ? undefined : `Did you mean ${nearest}?`;
}

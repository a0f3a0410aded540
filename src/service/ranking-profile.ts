import { excerpt, invalidInput } from '../core/errors.ts';
import type { RankingProfile } from '../core/types.ts';

/**
 * The profile a request names, or the default.
 *
 * @throws PalimpsestError `invalid_input` for a name the server keeps no profile under
 */
export function profileNamed(profiles: ReadonlyMap<string, RankingProfile>, name: string): RankingProfile {
  const profile = profiles.get(name);
  if (profile !== undefined) return profile;
  const allowed = [...profiles.keys()];
  throw invalidInput(
    `profile: there is no ranking profile ${excerpt(name)}. Allowed: ${allowed.join(', ')}.`,
    {
      path: 'profile',
      got: excerpt(name),
      allowed,
    },
  );
}

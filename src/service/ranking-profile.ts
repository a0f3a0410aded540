import { excerpt, invalidInput } from '../core/errors.ts';
import type { ReadView } from '../core/ports.ts';
import type { RankingProfile } from '../core/types.ts';

/**
 * The profile of a name: a built-in one, else one an administrator keeps, as it is in this very state of the store.
 *
 * @throws PalimpsestError `invalid_input` for a name that stands for no profile
 */
export async function profileNamed(
  builtIn: ReadonlyMap<string, RankingProfile>,
  view: Pick<ReadView, 'profile'>,
  name: string,
): Promise<RankingProfile> {
  const profile = builtIn.get(name) ?? (await view.profile(name));
  if (profile !== null) return profile;
  const known = [...builtIn.keys()].join(', ');
  throw invalidInput(
    `profile: there is no ranking profile ${excerpt(name)}. Allowed: ${known}, or one an administrator has made.`,
    { path: 'profile', got: excerpt(name), allowed: `${known}, or the name of one that was made` },
  );
}

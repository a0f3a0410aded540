import { conflict, excerpt, PalimpsestError } from '../../core/errors.ts';
import type { StoredProfile } from '../../core/governance.ts';
import { checkProfile } from '../../core/ranking/check-profile.ts';
import type { RankingProfile } from '../../core/types.ts';
import type { RequestContext } from '../request-context.ts';
import type { ServiceState } from '../service-parts.ts';
import { cutoffWarnings } from '../warning.ts';
import type { Kept, ProfileView } from './model.ts';

/** The built-in profiles, then those of the tenant by name. */
export async function listProfiles(
  { governance, profiles }: ServiceState,
  { access }: RequestContext,
): Promise<ProfileView[]> {
  const stored = await governance.listProfiles(access);
  return [...[...profiles.values()].map(builtInView), ...stored.map(storedView)];
}

export async function getProfile(
  { governance, profiles }: ServiceState,
  { access }: RequestContext,
  name: string,
): Promise<ProfileView> {
  const builtIn = profiles.get(name);
  if (builtIn !== undefined) return builtInView(builtIn);
  const stored = await governance.findProfile(access, name);
  if (stored === null) throw noProfile(name);
  return storedView(stored);
}

export async function putProfile(
  state: ServiceState,
  { access }: RequestContext,
  profile: RankingProfile,
): Promise<Kept<ProfileView>> {
  refuseBuiltIn(state, profile.name);
  const stored = await state.governance.putProfile(access, checkProfile(profile), state.clock());
  return { value: storedView(stored), warnings: cutoffWarnings(profile.relativeCutoff) };
}

export async function deleteProfile(
  state: ServiceState,
  { access }: RequestContext,
  name: string,
): Promise<void> {
  refuseBuiltIn(state, name);
  const { governance } = state;
  const using = (await governance.listPolicies(access)).filter(({ profile }) => profile === name);
  if (using.length > 0) {
    const subjects = using.map(({ subject: { kind, id } }) => `${kind} ${excerpt(id)}`).join(', ');
    throw conflict(`The profile ${excerpt(name)} is named by the policies of: ${subjects}.`, {
      path: 'name',
      got: excerpt(name),
      hint: 'Give those policies another profile first.',
    });
  }
  if (!(await governance.deleteProfile(access, name, state.clock()))) throw noProfile(name);
}

function builtInView(profile: RankingProfile): ProfileView {
  return { profile, isBuiltIn: true, createdAt: null, updatedAt: null };
}

function storedView({ profile, createdAt, updatedAt }: StoredProfile): ProfileView {
  return { profile, isBuiltIn: false, createdAt, updatedAt };
}

function refuseBuiltIn({ profiles }: ServiceState, name: string): void {
  if (!profiles.has(name)) return;
  throw conflict(`The profile ${name} is built in and stays as it is.`, {
    path: 'name',
    got: name,
    hint: 'Make one under another name, and name it in policies or requests.',
  });
}

function noProfile(name: string): PalimpsestError {
  return new PalimpsestError('not_found', `There is no ranking profile ${excerpt(name)}.`, {
    details: [{ path: 'name', got: excerpt(name) }],
  });
}

import { namespaceOwner, patternOwner, patternsOverlap, scopeMatcher } from './namespace.ts';
import type { Access, Principal } from './types.ts';

/**
 * Who may reach what, as SPEC section 3 says. The database enforces the same by row-level security; here it is
 * asked beforehand, so that a refusal can say what it is about.
 */

/** The patterns of everything a user may read without a policy. */
export function ownScope(userId: string): string[] {
  return ['user', 'agent']
    .map((kind) => `vector.${kind}.${userId}`)
    .concat('vector.global')
    .flatMap((root) => [root, `${root}.*`]);
}

/** Whether the asker may write to a namespace: their own, or one of nobody else's that a policy opens. */
export function mayWrite({ principal, writeGrants }: Access, path: string): boolean {
  if (principal.isTenantWide) return true;
  const owner = namespaceOwner(path);
  if (owner.kind === 'user') return owner.userId === principal.userId;
  return writeGrants.length > 0 && scopeMatcher(writeGrants)(path);
}

/** A pattern that names only what the asker may not read. */
export interface OutOfReach {
  readonly pattern: string;
  /** The user whose consent would put it in an administrator's reach; null where nothing would. */
  readonly unlessConsentOf: string | null;
}

/** The patterns of a scope that can't match anything the asker may read. */
export function outOfReach({ principal, readGrants }: Access, patterns: readonly string[]): OutOfReach[] {
  if (principal.isTenantWide) return [];
  const reachable = [...ownScope(principal.userId), ...readGrants];
  return patterns.flatMap((pattern): OutOfReach[] => {
    const owner = patternOwner(pattern);
    if (owner === principal.userId) return [];
    if (owner !== null) return [{ pattern, unlessConsentOf: principal.isAdmin ? owner : null }];
    const isReachable = reachable.some((reached) => patternsOverlap(reached, pattern));
    return isReachable ? [] : [{ pattern, unlessConsentOf: null }];
  });
}

/** The users, other than the asker, whose private namespaces these are; sorted. None for the store's operator. */
export function otherOwners({ userId, isTenantWide }: Principal, paths: Iterable<string>): string[] {
  if (isTenantWide) return [];
  const owners = new Set<string>();
  for (const path of paths) {
    const owner = namespaceOwner(path);
    if (owner.kind === 'user' && owner.userId !== userId) owners.add(owner.userId);
  }
  return [...owners].sort();
}

import { scopeRegexSource } from '../../core/namespace.ts';
import type { Access } from '../../core/types.ts';
import type { SqlStatement } from '../sql-database.ts';

/** Roles a request may run under. None can bypass row-level security; the migrations say what each may do. */
export type RequestRole = (typeof REQUEST_ROLES)[number];
export const REQUEST_ROLES = [
  'palimpsest_app',
  'palimpsest_feedback',
  'palimpsest_auth',
  'palimpsest_refusals',
  'palimpsest_embedding',
  'palimpsest_upkeep',
] as const;

/** First key of the advisory locks that keep writes and decisions about models apart; the second is the tenant's. */
const MODELS_LOCK = 7077;

/**
 * Puts the transaction under a role and says who is asking. `set_config(…, true)` is `SET LOCAL`: all of it
 * ends with the transaction, so nothing stays on a pooled connection.
 *
 * A writing transaction waits here for a decision about models that is under way (`lockModels`), and the next one
 * waits for it: an advisory lock, which costs no round trip and no row, where a locked row would be written by
 * every writer of the tenant.
 */
export function enterAccess(access: Access, options: { role: RequestRole; mayWrite: boolean }): SqlStatement {
  const { principal } = access;
  const { text, values } = setLocally([
    ['palimpsest.tenant_id', principal.tenantId],
    ['palimpsest.user_id', principal.userId],
    ...reachSettings(access, options),
    ['role', options.role],
  ]);
  if (!options.mayWrite) return { text, values };
  return {
    text: `${text}, pg_advisory_xact_lock_shared(${MODELS_LOCK}, hashtext($${values.length + 1}))`,
    values: [...values, principal.tenantId],
  };
}

/** Waits until no write of the tenant is under way, and lets none begin before this transaction is over. */
export function lockModels(tenantId: string): SqlStatement {
  return { text: `SELECT pg_advisory_xact_lock(${MODELS_LOCK}, hashtext($1))`, values: [tenantId] };
}

/** Lets no decision about models come between what this transaction reads of them and what it does. */
export function shareModels(tenantId: string): SqlStatement {
  return { text: `SELECT pg_advisory_xact_lock_shared(${MODELS_LOCK}, hashtext($1))`, values: [tenantId] };
}

/** Sets what policies give and take, in a transaction that `enterAccess` has put under a role. */
export function enterReach(access: Access, options: { mayWrite: boolean }): SqlStatement {
  return setLocally(reachSettings(access, options));
}

type Setting = readonly [name: string, value: string];

function reachSettings(access: Access, { mayWrite }: { mayWrite: boolean }): Setting[] {
  return [
    ['palimpsest.is_admin', access.principal.isAdmin ? 'on' : 'off'],
    ['palimpsest.tenant_wide', access.principal.isTenantWide ? 'on' : 'off'],
    ['palimpsest.read_grants', grantRegex(access.readGrants)],
    // What may be written may be read back by the write itself, but must not widen a search.
    ['palimpsest.write_grants', mayWrite ? grantRegex(access.writeGrants) : ''],
  ];
}

function setLocally(settings: readonly Setting[]): SqlStatement {
  const calls = settings.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
  return { text: `SELECT ${calls.join(', ')}`, values: settings.flat() };
}

function grantRegex(patterns: readonly string[]): string {
  return patterns.length === 0 ? '' : scopeRegexSource(patterns);
}

import { scopeRegexSource } from '../../core/namespace.ts';
import type { Access } from '../../core/types.ts';
import type { SqlStatement } from '../sql-database.ts';

/** Roles a request may run under. None can bypass row-level security; the migrations say what each may do. */
export type RequestRole =
  | 'palimpsest_app'
  | 'palimpsest_feedback'
  | 'palimpsest_auth'
  | 'palimpsest_refusals'
  | 'palimpsest_upkeep';

/**
 * Puts the transaction under a role and says who is asking. `set_config(…, true)` is `SET LOCAL`: all of it
 * ends with the transaction, so nothing stays on a pooled connection.
 */
export function enterAccess(access: Access, options: { role: RequestRole; mayWrite: boolean }): SqlStatement {
  const { principal } = access;
  return setLocally([
    ['palimpsest.tenant_id', principal.tenantId],
    ['palimpsest.user_id', principal.userId],
    ['palimpsest.is_admin', principal.isAdmin ? 'on' : 'off'],
    ['palimpsest.tenant_wide', principal.isTenantWide ? 'on' : 'off'],
    ...grantSettings(access, options),
    ['role', options.role],
  ]);
}

/** Opens what policies grant, in a transaction that `enterAccess` has put under a role. */
export function enterGrants(access: Access, options: { mayWrite: boolean }): SqlStatement {
  return setLocally(grantSettings(access, options));
}

type Setting = readonly [name: string, value: string];

function grantSettings(access: Access, { mayWrite }: { mayWrite: boolean }): Setting[] {
  return [
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

import { checkWord } from '../../core/entry.ts';
import { excerpt, invalidInput } from '../../core/errors.ts';
import { KEY_SCOPES, type KeyScope } from '../../core/governance.ts';
import { parseSegment } from '../../core/namespace.ts';
import type { RequestContext } from '../request-context.ts';
import type { ServiceState } from '../service-parts.ts';
import type { KeyDraft, NewKey } from './model.ts';

const MAX_NAME_LENGTH = 128;

/** Makes a key. Its secret is in the answer and nowhere else. */
export async function createKey(
  state: ServiceState,
  context: RequestContext,
  draft: KeyDraft,
): Promise<NewKey> {
  const now = state.clock();
  const { tenantId, userId: createdBy } = context.access.principal;
  const { secret, prefix, secretHash } = state.newKey();
  const key = await state.governance.createKey(context.access, {
    id: state.newId(),
    tenantId,
    userId: parseSegment(draft.userId, 'user_id'),
    name: checkWord(draft.name, 'name', MAX_NAME_LENGTH),
    prefix,
    secretHash,
    scopes: checkScopes(draft.scopes),
    createdAt: new Date(now),
    createdBy,
    expiresAt: draft.expiresAt === undefined ? null : checkExpiry(draft.expiresAt, now),
    revokedAt: null,
    lastUsedAt: null,
  });
  return { key, secret };
}

function checkScopes(scopes: readonly KeyScope[]): KeyScope[] {
  const unknown = scopes.find((scope) => !KEY_SCOPES.includes(scope));
  if (unknown === undefined && scopes.length > 0) {
    return KEY_SCOPES.filter((scope) => scopes.includes(scope));
  }
  const fault =
    unknown === undefined
      ? 'a key without a scope is good for nothing'
      : `there is no scope ${excerpt(unknown)}`;
  throw invalidInput(`scopes: ${fault}. Allowed: ${KEY_SCOPES.join(', ')}.`, {
    path: 'scopes',
    got: unknown === undefined ? [] : excerpt(unknown),
    allowed: [...KEY_SCOPES],
  });
}

function checkExpiry(expiresAt: Date, now: number): Date {
  if (expiresAt.getTime() > now) return expiresAt;
  throw invalidInput(`expires_at: ${expiresAt.toISOString()} is past already.`, {
    path: 'expires_at',
    got: expiresAt.toISOString(),
    allowed: 'a time to come',
  });
}

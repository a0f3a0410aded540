import type { Lifecycle } from '../../core/ports.ts';

/**
 * Conditions over `app.memories AS m` that name a part of an entry's life. `live` are the exclusions of
 * SPEC section 2: what is not live is dropped before anything is scored.
 */
export function lifeCondition(lifecycle: Lifecycle, now: string): string {
  const present = 'm.deleted_at IS NULL AND m.superseded_by IS NULL';
  switch (lifecycle) {
    case 'live':
      return `${present} AND (m.expires_at IS NULL OR m.expires_at > ${now}::timestamptz)`;
    case 'expired':
      return `${present} AND m.expires_at <= ${now}::timestamptz`;
    case 'superseded':
      return 'm.deleted_at IS NULL AND m.superseded_by IS NOT NULL';
    case 'deleted':
      return 'm.deleted_at IS NOT NULL';
    case 'any':
      return 'true';
  }
}

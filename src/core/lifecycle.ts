import type { Lifecycle } from './ports.ts';
import type { MemoryEntry } from './types.ts';

/**
 * Which part of its life an entry is in at `now` (milliseconds since the epoch). What is deleted is called so
 * whatever else it was, and what is superseded is so for good, expired or not.
 */
export function lifecycleOf(
  entry: Pick<MemoryEntry, 'deletedAt' | 'supersededBy' | 'expiresAt'>,
  now: number,
): Exclude<Lifecycle, 'any'> {
  if (entry.deletedAt !== null) return 'deleted';
  if (entry.supersededBy !== null) return 'superseded';
  if (entry.expiresAt !== null && entry.expiresAt.getTime() <= now) return 'expired';
  return 'live';
}

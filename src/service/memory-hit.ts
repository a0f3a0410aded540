import type {
  JsonObject,
  MemoryDuplicate,
  MemoryEntry,
  MemoryHit,
  RankedHit,
  RankingProfile,
  ScoredCandidate,
} from '../core/types.ts';

/** Puts the entries to their ranked hits. */
export function toMemoryHits(
  hits: readonly RankedHit[],
  entries: ReadonlyMap<string, MemoryEntry>,
  profile: RankingProfile,
): MemoryHit[] {
  return hits.map((hit) => {
    const duplicates = hit.duplicates.map((duplicate) => toDuplicate(duplicate, entries, profile));
    return {
      entry: withDuplicates(entryOf(hit, entries), duplicates),
      similarity: hit.candidate.similarity,
      score: hit.score,
      relevance: relevanceOf(hit, profile),
      breakdown: hit.breakdown,
      duplicates,
    };
  });
}

function entryOf({ candidate }: ScoredCandidate, entries: ReadonlyMap<string, MemoryEntry>): MemoryEntry {
  const entry = entries.get(candidate.id);
  if (entry === undefined) throw new Error('The store knows a candidate whose entry it does not return.');
  return entry;
}

function relevanceOf({ score }: ScoredCandidate, profile: RankingProfile): number | null {
  return profile.kind === 'boosted' ? score : null;
}

function toDuplicate(
  duplicate: ScoredCandidate,
  entries: ReadonlyMap<string, MemoryEntry>,
  profile: RankingProfile,
): MemoryDuplicate {
  const { id, namespace, createdAt, updatedAt, observedAt, metadata } = entryOf(duplicate, entries);
  return {
    id,
    namespace,
    similarity: duplicate.candidate.similarity,
    score: duplicate.score,
    relevance: relevanceOf(duplicate, profile),
    createdAt,
    updatedAt,
    observedAt,
    metadata,
  };
}

/**
 * The seed's place for duplicates: the winner's metadata, as JSON, so with the wire's names. A `duplicates` key
 * of the caller's own is hidden behind it in a hit; it stays stored, and reading the entry by id shows it.
 */
function withDuplicates(entry: MemoryEntry, duplicates: readonly MemoryDuplicate[]): MemoryEntry {
  if (duplicates.length === 0) return entry;
  return { ...entry, metadata: { ...entry.metadata, duplicates: duplicates.map(duplicateAsJson) } };
}

function duplicateAsJson(duplicate: MemoryDuplicate): JsonObject {
  return {
    id: duplicate.id,
    namespace: duplicate.namespace,
    similarity: duplicate.similarity,
    score: duplicate.score,
    relevance: duplicate.relevance,
    created_at: duplicate.createdAt.toISOString(),
    updated_at: duplicate.updatedAt.toISOString(),
    observed_at: duplicate.observedAt?.toISOString() ?? null,
    metadata: duplicate.metadata,
  };
}

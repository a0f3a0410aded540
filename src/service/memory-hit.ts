import type {
  Breakdown,
  JsonObject,
  MemoryEntry,
  RankedHit,
  RankingProfile,
  ScoredCandidate,
} from '../core/types.ts';

/** An entry with the same content as a hit, which therefore takes no place of its own. */
export interface MemoryDuplicate {
  readonly id: string;
  readonly namespace: string;
  /** In [0, 1]; null without a query. */
  readonly similarity: number | null;
  readonly score: number | null;
  /** The score again where the profile is `boosted`, else null. */
  readonly relevance: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly observedAt: Date | null;
  readonly metadata: JsonObject;
}

/** One result of a recall. */
export interface MemoryHit {
  /** The entry. Where it stands for equal contents, its `metadata.duplicates` lists them. */
  readonly entry: MemoryEntry;
  /** What was measured: cosine similarity to the query in [0, 1]; null without a query. */
  readonly similarity: number | null;
  /** What it is worth under the profile: the value that is ranked on. Null while browsing. */
  readonly score: number | null;
  /** The score under its `boosted` name; it can exceed 1. Null under a `weighted` profile and while browsing. */
  readonly relevance: number | null;
  /** The factors that add up to the score, to 1e-9. Null while browsing. */
  readonly breakdown: Breakdown | null;
  readonly duplicates: readonly MemoryDuplicate[];
}

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

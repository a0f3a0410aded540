import type { MemoryEntry, NamespaceRule } from '../../src/core/types.ts';
import { slowRuleCovers, slowScopeMatches } from './slow-namespace-matcher.ts';

/*
 * What a search finds, written as the specification says it: loops over all entries, with its numbers as they stand
 * there. It shares nothing with the product, to hold the product against.
 */

const DAY_MS = 86_400_000;

export interface SlowRequest {
  readonly profile: 'boosted' | 'weighted';
  /** Undefined: browsing. */
  readonly query: string | undefined;
  readonly namespaces: readonly string[];
  readonly passes: (entry: MemoryEntry) => boolean;
  readonly topK: number;
  readonly minScore: number | undefined;
  readonly relativeCutoff: number | undefined;
}

export interface SlowWorld {
  /** Entries of every kind of life. */
  readonly entries: readonly MemoryEntry[];
  readonly rules: readonly Pick<NamespaceRule, 'pattern' | 'bonus'>[];
  /** The vector of a text; null where it has none. */
  readonly vectorOf: (text: string) => Float32Array | null;
  readonly now: number;
}

export interface SlowHit {
  readonly entry: MemoryEntry;
  /** Null while browsing by `boosted`. */
  readonly score: number | null;
  /** Ids of other entries with the same content. */
  readonly duplicates: readonly string[];
}

export function slowRecall(world: SlowWorld, request: SlowRequest): SlowHit[] {
  const scored = world.entries
    .filter((entry) => isFound(entry, world.now))
    .filter((entry) => slowScopeMatches(request.namespaces, entry.namespace) && request.passes(entry))
    .map((entry) => ({ entry, score: scoreOf(entry, world, request) }))
    .sort((a, b) => (b.score ?? 0) - (a.score ?? 0) || newerFirst(a.entry, b.entry));
  return withoutDuplicates(withoutWeak(scored, request)).slice(0, request.topK);
}

function isFound({ deletedAt, expiresAt, supersededBy }: MemoryEntry, now: number): boolean {
  return deletedAt === null && supersededBy === null && (expiresAt === null || expiresAt.getTime() > now);
}

function scoreOf(entry: MemoryEntry, world: SlowWorld, { profile, query }: SlowRequest): number | null {
  const ageDays = Math.max(0, world.now - entry.updatedAt.getTime()) / DAY_MS;
  if (profile === 'boosted') {
    if (query === undefined) return null;
    let bonuses = 0;
    for (const { pattern, bonus } of world.rules) {
      if (slowRuleCovers(pattern, entry.namespace)) bonuses += bonus;
    }
    return similarity(world, query, entry.content) * (1 + bonuses + 0.05 / (1 + ageDays));
  }
  const measured = query === undefined ? 1 : similarity(world, query, entry.content);
  const recency = 0.5 ** (ageDays / 14);
  const frequency = Math.min(1, Math.log(1 + entry.validatedAccessCount) / Math.log(1 + 100));
  return 0.4 * measured + 0.2 * recency + 0.25 * entry.importance + 0.15 * frequency;
}

function similarity({ vectorOf }: SlowWorld, query: string, content: string): number {
  const [a, b] = [vectorOf(query), vectorOf(content)];
  if (a === null || b === null) return 0;
  let [product, squaresOfA, squaresOfB] = [0, 0, 0];
  for (const [index, x] of a.entries()) {
    const y = b[index] ?? 0;
    product += x * y;
    squaresOfA += x * x;
    squaresOfB += y * y;
  }
  return Math.min(1, Math.max(0, product / Math.sqrt(squaresOfA * squaresOfB)));
}

function newerFirst(a: MemoryEntry, b: MemoryEntry): number {
  return b.updatedAt.getTime() - a.updatedAt.getTime() || (a.id < b.id ? -1 : 1);
}

type Scored = Pick<SlowHit, 'entry' | 'score'>;

function withoutWeak(
  scored: readonly Scored[],
  { profile, minScore, relativeCutoff }: SlowRequest,
): Scored[] {
  const floor = minScore ?? (profile === 'boosted' ? 0.4 : 0);
  const share = relativeCutoff ?? (profile === 'boosted' ? 0.7 : 0);
  const best = scored[0]?.score ?? 0;
  return scored.filter(({ score }) => score === null || (score >= floor && score >= share * best));
}

function withoutDuplicates(scored: readonly Scored[]): SlowHit[] {
  const hits: (Scored & { duplicates: string[] })[] = [];
  for (const { entry, score } of scored) {
    const winner = hits.find((hit) => hit.entry.content === entry.content);
    if (winner === undefined) hits.push({ entry, score, duplicates: [] });
    else winner.duplicates.push(entry.id);
  }
  return hits;
}

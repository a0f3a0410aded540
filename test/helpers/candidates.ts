import type { Candidate, NamespaceRule } from '../../src/core/types.ts';

/** The present of the ranking tests: 2 May 2026, noon UTC. */
export const NOW = Date.UTC(2026, 4, 2, 12);
export const DAY = 86_400_000;

/** What a test says about a candidate. The age is in days before {@link NOW}. */
export interface CandidateFacts extends Partial<Candidate> {
  readonly id: string;
  readonly ageDays?: number;
}

/** A candidate of which only what matters to the test is said: new, middling, unused, its content its own. */
export function candidate({ ageDays = 0, ...facts }: CandidateFacts): Candidate {
  return {
    namespace: 'notes',
    contentHash: `content of ${facts.id}`,
    similarity: 0.5,
    updatedAt: NOW - ageDays * DAY,
    importance: 0.5,
    accessCount: 0,
    validatedAccessCount: 0,
    ...facts,
  };
}

export function rule(pattern: string, bonus: number): NamespaceRule {
  return {
    pattern,
    bonus,
    description: null,
    instructionTemplate: null,
    createdAt: new Date(NOW),
    updatedAt: new Date(NOW),
  };
}

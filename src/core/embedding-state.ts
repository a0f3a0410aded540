import { excerpt, invalidInput } from './errors.ts';
import { compareInstructionPatterns, parseNamespacePath, scopeMatcher } from './namespace.ts';
import type { JsonObject } from './types.ts';

/**
 * Which models a tenant keeps vectors under, and which of them its searches use. It is data, read in the
 * transaction of each search and write, so that a change of model holds for every process at once.
 */

/**
 * What a model is to a scope.
 * - `active`: its searches are answered by it, and every entry is kept under it.
 * - `fallback`: every entry is kept under it too, for searches that the active model can not answer.
 * - `target`: a change to it is under way, so every entry is to be kept under it already.
 */
export type EmbeddingRole = 'active' | 'fallback' | 'target';

/** A model as the database knows it. */
export interface KnownModel {
  readonly modelId: string;
  readonly dimensions: number;
  /** What another process opens it with, never a secret; null where only the program that brought it can. */
  readonly settings: JsonObject | null;
}

/** A model's role for the namespaces of a scope. */
export interface EmbeddingAssignment {
  readonly role: EmbeddingRole;
  /** Checked by {@link parseEmbeddingScope}. The most specific one that covers a namespace holds for it. */
  readonly scope: string;
  readonly model: KnownModel;
  /** Of a target: whether the entries that were there are done, so that a write completes it at once. */
  readonly isCaughtUp: boolean;
}

export interface EmbeddingState {
  readonly assignments: readonly EmbeddingAssignment[];
  /** Ids of models under which some entry the asker may read has no vector yet. */
  readonly waitingModels: readonly string[];
}

/** The scope of everything that has no model of its own. */
export const WHOLE_STORE = '*';

/**
 * Checks the scope of a model: `*`, a namespace, or a namespace and `.*` for all below it. Not any pattern: of
 * two such scopes one contains the other or they have nothing in common, so that "the most specific one" is
 * always clear.
 *
 * @throws PalimpsestError `invalid_input`
 */
export function parseEmbeddingScope(text: string, field = 'scope'): string {
  if (text === WHOLE_STORE) return text;
  const path = typeof text === 'string' && text.endsWith('.*') ? text.slice(0, -2) : text;
  try {
    parseNamespacePath(path, field);
    return text;
  } catch (cause) {
    const allowed = 'a namespace such as team.notes, all below one such as team.*, or * for everything';
    throw Object.assign(
      invalidInput(`${field}: ${excerpt(text)} can't have a model of its own. Allowed: ${allowed}.`, {
        path: field,
        got: excerpt(text),
        allowed,
      }),
      { cause },
    );
  }
}

/** What the state means for a namespace. */
export interface EmbeddingPlan {
  /** The model that searches in it use; null where there is none yet. */
  active(namespace: string): KnownModel | null;
  /** Every assignment by which an entry of it is to have a vector, the active one first. */
  kept(namespace: string): EmbeddingAssignment[];
}

/** Compiles the scopes once, for many namespaces. */
export function embeddingPlan({ assignments }: Pick<EmbeddingState, 'assignments'>): EmbeddingPlan {
  const lines = [...assignments]
    .sort((a, b) => compareInstructionPatterns(a.scope, b.scope))
    .map((assignment) => ({ assignment, covers: scopeMatcher([assignment.scope]) }));
  const find = (role: EmbeddingRole, namespace: string) =>
    lines.find(({ assignment, covers }) => assignment.role === role && covers(namespace))?.assignment;
  return {
    active: (namespace) => find('active', namespace)?.model ?? null,
    kept(namespace) {
      const active = find('active', namespace);
      const target = find('target', namespace);
      // A change of a wider scope leaves alone what has a model of its own.
      const isLeftAlone =
        active !== undefined && target !== undefined && isWithin(active.scope, target.scope);
      return distinctModels([active, find('fallback', namespace), isLeftAlone ? undefined : target]);
    },
  };
}

function distinctModels(assignments: readonly (EmbeddingAssignment | undefined)[]): EmbeddingAssignment[] {
  const kept = new Map<string, EmbeddingAssignment>();
  for (const assignment of assignments) {
    const modelId = assignment?.model.modelId;
    if (assignment !== undefined && modelId !== undefined && !kept.has(modelId))
      kept.set(modelId, assignment);
  }
  return [...kept.values()];
}

/** The model of everything that has none of its own; null where there is none yet. */
export function activeModelOfStore({ assignments }: Pick<EmbeddingState, 'assignments'>): KnownModel | null {
  return assignments.find(({ role, scope }) => role === 'active' && scope === WHOLE_STORE)?.model ?? null;
}

/** Scopes inside another one that have an active model of their own. */
export function scopesWithin({ assignments }: Pick<EmbeddingState, 'assignments'>, scope: string): string[] {
  return assignments
    .filter((assignment) => assignment.role === 'active' && isWithin(assignment.scope, scope))
    .map((assignment) => assignment.scope);
}

/** Whether a scope is a narrower one than another that contains it. */
export function isWithin(inner: string, outer: string): boolean {
  if (inner === outer) return false;
  if (outer === WHOLE_STORE) return true;
  return outer.endsWith('.*') && inner.startsWith(outer.slice(0, -1));
}

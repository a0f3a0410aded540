import {
  type EmbeddingPlan,
  type EmbeddingState,
  embeddingPlan,
  type KnownModel,
} from '../../core/embedding-state.ts';
import { PalimpsestError } from '../../core/errors.ts';
import type { Embedding } from '../../core/ports.ts';
import { deleteFilledGaps, insertGaps, type NewGap } from '../queries/embedding/gaps.ts';
import {
  type AssignmentRow,
  selectAssignments,
  selectModel,
  selectWaitingModels,
  toAssignment,
} from '../queries/embedding/state.ts';
import { type EntryEmbeddings, upsertEmbeddings } from '../queries/embeddings.ts';
import type { SqlTransaction } from '../sql-database.ts';

/** What is kept of entries under which models: read and kept in the transaction that writes the entries. */

/** The state as whoever the transaction runs for may see it. */
export async function readEmbeddingState(tx: SqlTransaction, tenantId: string): Promise<EmbeddingState> {
  const rows = await tx.query<AssignmentRow>(selectAssignments(tenantId));
  const waiting = await tx.query<{ model_id: string }>(selectWaitingModels(tenantId));
  return {
    assignments: rows.map(toAssignment),
    waitingModels: waiting.map(({ model_id: modelId }) => modelId),
  };
}

export async function readPlan(tx: SqlTransaction, tenantId: string): Promise<EmbeddingPlan | null> {
  const rows = await tx.query<AssignmentRow>(selectAssignments(tenantId));
  return rows.length === 0 ? null : embeddingPlan({ assignments: rows.map(toAssignment) });
}

/**
 * Stores the vectors that were made, and notes for each model an entry is kept under that it has none yet, or that
 * there is nothing to embed. Vectors under a model that is no longer kept are dropped. A tenant that has no models
 * keeps what it is given.
 *
 * @param options.mayHaveGaps - Whether some of the entries were there before.
 */
export async function keepEmbeddings(
  tx: SqlTransaction,
  tenantId: string,
  entries: readonly EntryEmbeddings[],
  options: { readonly mayHaveGaps: boolean },
): Promise<void> {
  const plan = await readPlan(tx, tenantId);
  const kept = plan === null ? entries : entries.map((entry) => withoutUnkept(entry, plan));
  const upsert = upsertEmbeddings(tenantId, kept);
  if (upsert !== null) await tx.query(upsert);
  const gaps = plan === null ? [] : entries.flatMap((entry) => gapsOf(entry, plan));
  if (gaps.length > 0) await tx.query(insertGaps(tenantId, gaps));
  const filled = options.mayHaveGaps ? kept.flatMap(filledOf) : [];
  if (filled.length > 0) await tx.query(deleteFilledGaps(tenantId, filled));
}

function withoutUnkept(entry: EntryEmbeddings, plan: EmbeddingPlan): EntryEmbeddings {
  const models = keptModels(entry.namespace, plan);
  return { ...entry, embeddings: entry.embeddings.filter(({ modelId }) => models.includes(modelId)) };
}

function gapsOf({ memoryId, namespace, embeddings }: EntryEmbeddings, plan: EmbeddingPlan): NewGap[] {
  return keptModels(namespace, plan).flatMap((modelId): NewGap[] => {
    const embedding = embeddings.find((made) => made.modelId === modelId);
    if (embedding !== undefined && embedding.vector !== null) return [];
    return [{ memoryId, namespace, modelId, reason: embedding === undefined ? 'waiting' : 'empty' }];
  });
}

function keptModels(namespace: string, plan: EmbeddingPlan): string[] {
  return plan.kept(namespace).map(({ model }) => model.modelId);
}

function filledOf({ memoryId, embeddings }: EntryEmbeddings): { memoryId: string; modelId: string }[] {
  const isFilled = ({ vector }: Embedding) => vector !== null;
  return embeddings.filter(isFilled).map(({ modelId }) => ({ memoryId, modelId }));
}

/** @throws PalimpsestError `conflict` where the model is stored with other dimensions */
export async function requireDimensions(
  tx: SqlTransaction,
  tenantId: string,
  { modelId, dimensions }: Pick<KnownModel, 'modelId' | 'dimensions'>,
): Promise<void> {
  const [known] = await tx.query<{ dimensions: number }>(selectModel(tenantId, modelId));
  if (known === undefined || known.dimensions === dimensions) return;
  throw new PalimpsestError(
    'conflict',
    `The model ${modelId} is stored with ${known.dimensions} dimensions; its provider now gives ${dimensions}.`,
    {
      details: [
        {
          path: 'dimensions',
          got: dimensions,
          allowed: known.dimensions,
          hint: 'Vectors of one model must be comparable: give the changed model a name of its own.',
        },
      ],
    },
  );
}

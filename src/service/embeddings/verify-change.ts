import type { EmbeddingState, KnownModel } from '../../core/embedding-state.ts';
import { embeddingPlan } from '../../core/embedding-state.ts';
import type { ChangeVerification, EmbeddingJob, EmbeddingStore } from '../../core/embedding-store.ts';
import { PalimpsestError } from '../../core/errors.ts';
import type { Clock } from '../../core/ports.ts';
import { letOthersGoOn } from './let-others-go-on.ts';
import type { ModelCatalog } from './model-catalog.ts';

export interface VerifyParts {
  readonly embeddings: EmbeddingStore;
  readonly catalog: ModelCatalog;
  readonly clock: Clock;
}

/** Entries whose own texts are asked for, under both models. */
const SAMPLE = 20;
const NEAREST = 10;
/** A question is short: of a long text its beginning is asked for. */
const MAX_QUERY_LENGTH = 200;

/**
 * Looks at a change before its switch: counts every entry of its scope by what it has under the new model, and
 * compares what both models find for a sample of texts. The counts decide whether it may switch; the overlap is for
 * people: two good models can find much that is different.
 */
export async function verifyChange(
  parts: VerifyParts,
  tenantId: string,
  job: EmbeddingJob,
  options: {
    readonly queries?: readonly string[] | undefined;
    readonly signal?: AbortSignal | undefined;
  } = {},
): Promise<ChangeVerification> {
  const { embeddings, clock } = parts;
  const counts = await embeddings.coverage(tenantId, job.id);
  const sample = await embeddings.sampleEntries(tenantId, job.id, SAMPLE, job.id);
  const [first] = sample;
  const state = await embeddings.embeddingState(tenantId);
  const before = first === undefined ? null : searchedModel(state, first.namespace);
  const queries =
    options.queries ?? sample.map(({ document }) => document.content.slice(0, MAX_QUERY_LENGTH));
  const overlap =
    before === null || queries.length === 0
      ? null
      : await measureOverlap(parts, tenantId, job, before, queries, options.signal);
  const verification = { counts, overlap, verifiedAt: new Date(clock()).toISOString() };
  await embeddings.keepVerification(tenantId, job.id, verification);
  return verification;
}

function searchedModel(state: EmbeddingState, namespace: string): KnownModel | null {
  return embeddingPlan(state).active(namespace);
}

async function measureOverlap(
  parts: VerifyParts,
  tenantId: string,
  job: EmbeddingJob,
  before: KnownModel,
  queries: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ChangeVerification['overlap']> {
  const shares: number[] = [];
  for (const query of queries) {
    await letOthersGoOn();
    const found = [];
    for (const model of [before, job.model]) {
      const vector = await queryVector(parts, model, query, signal);
      // A model that can't be asked here, or had to be stood in for, is not compared.
      if (vector === undefined) return null;
      if (vector === null) continue;
      const asked = { modelId: model.modelId, vector, k: NEAREST, now: parts.clock() };
      found.push(await parts.embeddings.nearestEntries(tenantId, job.id, asked));
    }
    const [old, changed] = found;
    if (old !== undefined && changed !== undefined) shares.push(shareOf(old, changed));
  }
  if (shares.length === 0) return null;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  return { k: NEAREST, queries: shares.length, mean, least: Math.min(...shares) };
}

/** Undefined where the model can't be asked here; null where it finds nothing to embed, or fails at this text. */
async function queryVector(
  { catalog }: VerifyParts,
  model: KnownModel,
  query: string,
  signal: AbortSignal | undefined,
): Promise<Float32Array | null | undefined> {
  try {
    const answer = await catalog.forQueries(model)?.embedQuery(query, { signal });
    return answer?.modelId === model.modelId ? answer.vector : undefined;
  } catch (error) {
    // The overlap is for information: what it could not ask is missing from its number of queries.
    if (PalimpsestError.isInstance(error) && error.code === 'embedding_failed') return null;
    throw error;
  }
}

/** Share of the first list that is in the second too; of nothing, all. */
function shareOf(old: readonly string[], changed: readonly string[]): number {
  if (old.length === 0) return 1;
  const found = new Set(changed);
  return old.filter((id) => found.has(id)).length / old.length;
}

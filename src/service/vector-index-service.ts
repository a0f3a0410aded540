import { activeModelOfStore, type EmbeddingAssignment } from '../core/embedding-state.ts';
import { excerpt, invalidInput, PalimpsestError } from '../core/errors.ts';
import {
  type BuildVectorIndexOptions,
  checkHnswBuild,
  type HnswBuildOptions,
  indexedAs,
  type VectorIndex,
} from '../core/vector-index.ts';
import { guarded } from './guard.ts';
import type { RequestContext } from './request-context.ts';
import type { ServiceState } from './service-parts.ts';

export interface BuildIndexRequest extends HnswBuildOptions {
  /** Default: the model of the whole store. */
  readonly modelId?: string | undefined;
}

/** Approximate indexes of vectors. For the operator of the store alone: an index serves every tenant. */
export interface VectorIndexService {
  list(context: RequestContext): Promise<readonly VectorIndex[]>;
  /** Builds an index while reads and writes go on. */
  create(
    context: RequestContext,
    request: BuildIndexRequest,
    options?: BuildVectorIndexOptions,
  ): Promise<VectorIndex>;
  /** Without a model: that of the whole store. False where it has no index. */
  drop(context: RequestContext, modelId?: string): Promise<boolean>;
}

export function createVectorIndexService(state: ServiceState): VectorIndexService {
  const { indexes } = state;
  const call = <T>(context: RequestContext, operation: string, work: () => Promise<T>) =>
    guarded(state, context, { operation, scope: 'admin' }, async () => {
      requireOperator(context);
      return work();
    });
  return {
    list: (context) => call(context, 'list_vector_indexes', () => indexes.list()),
    create: (context, { modelId, ...build }, options) =>
      call(context, 'create_vector_index', async () => {
        const { m, efConstruction } = checkHnswBuild(build);
        const model = await modelToIndex(state, context, modelId);
        indexedAs(model.dimensions);
        return indexes.create({ ...model, m, efConstruction }, options);
      }),
    drop: (context, modelId) =>
      call(context, 'drop_vector_index', async () =>
        indexes.drop(modelId ?? (await modelToIndex(state, context, undefined)).modelId),
      ),
  };
}

/** Only models that something is kept under: an index over nothing helps nobody. */
async function modelToIndex(
  { embeddings }: ServiceState,
  { access: { principal } }: RequestContext,
  modelId: string | undefined,
): Promise<Pick<EmbeddingAssignment['model'], 'modelId' | 'dimensions'>> {
  const state = await embeddings.embeddingState(principal.tenantId);
  const found =
    modelId === undefined
      ? activeModelOfStore(state)
      : state.assignments.find(({ model }) => model.modelId === modelId)?.model;
  if (found !== undefined && found !== null) return found;
  const known = [...new Set(state.assignments.map(({ model }) => model.modelId))];
  throw invalidInput(
    modelId === undefined
      ? 'model: This store has no embedding model yet.'
      : `model: Nothing is kept under the model ${excerpt(modelId)}.`,
    { path: 'model', got: modelId === undefined ? null : excerpt(modelId), allowed: known },
  );
}

function requireOperator({ access: { principal } }: RequestContext): void {
  if (principal.isTenantWide) return;
  throw new PalimpsestError(
    'forbidden',
    'Only the operator of the store may look at and change its indexes.',
    {
      details: [{ got: principal.userId, hint: 'An index serves every tenant of the store.' }],
    },
  );
}

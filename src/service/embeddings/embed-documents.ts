import {
  type EmbeddingAssignment,
  type EmbeddingState,
  embeddingPlan,
  type KnownModel,
} from '../../core/embedding-state.ts';
import type { EmbeddableDocument, Embedding, EmbeddingService } from '../../core/ports.ts';
import type { ServiceState } from '../service-parts.ts';

/** A document on its way into the store. */
export interface NewDocument extends EmbeddableDocument {
  /** Undefined where a policy is still to say it. */
  readonly namespace?: string | undefined;
}

/**
 * Longest that a write waits for a model that is not searched yet. The background then does it: nobody misses
 * anything until the switch.
 */
const TARGET_PATIENCE_MS = 5_000;

type Parts = Pick<ServiceState, 'catalog' | 'roles' | 'backfill'>;

/**
 * The embeddings of documents under every model they are kept under, in the order of the documents. What is missing
 * from an answer is noted by the write and filled in the background: a model in whose place a fallback answered, a
 * model this process can not ask, and one that a change under way leads to, until that has caught up.
 *
 * @throws PalimpsestError `embedding_failed` where the model that searches use, and its fallback, do not answer
 */
export async function embedDocuments(
  { catalog, roles, backfill }: Parts,
  tenantId: string,
  documents: readonly NewDocument[],
): Promise<(readonly Embedding[])[]> {
  const state = await roles.forWriting(tenantId);
  const wanted = [...wantedModels(state, documents).values()];
  const made: Embedding[][] = documents.map(() => []);
  const keep = (item: number, embedding: Embedding) => {
    const others = made[item];
    if (others?.every(({ modelId }) => modelId !== embedding.modelId)) others.push(embedding);
  };
  const [primary] = catalog.configured.models;
  const searched = wanted.find(({ model, role }) => role === 'active' && model.modelId === primary?.modelId);
  if (searched !== undefined) {
    const own = searched.items.flatMap((item) => documents[item] ?? []);
    const answers = await embedDistinct(catalog.configured, own, (distinct) =>
      catalog.configured.embedDocuments(distinct),
    );
    for (const [place, item] of searched.items.entries()) {
      for (const embedding of answers[place]?.embeddings ?? []) keep(item, embedding);
    }
  }
  await Promise.all(
    wanted
      .filter((want) => want !== searched)
      .map(async ({ model, role, items }) => {
        const embeddings = await embedUnder({ catalog }, { model, role }, items, documents);
        for (const [place, item] of items.entries()) {
          const embedding = embeddings[place];
          if (embedding !== undefined) keep(item, embedding);
        }
      }),
  );
  if (made.some((embeddings, item) => embeddings.length < keptCount(state, documents[item]))) backfill.kick();
  return made;
}

interface Wanted {
  readonly model: KnownModel;
  readonly role: EmbeddingAssignment['role'];
  readonly items: number[];
}

/** The models to ask at once, and for which documents. */
function wantedModels(state: EmbeddingState, documents: readonly NewDocument[]): Map<string, Wanted> {
  const plan = embeddingPlan(state);
  const wanted = new Map<string, Wanted>();
  for (const [item, { namespace }] of documents.entries()) {
    const kept = namespace === undefined ? state.assignments : plan.kept(namespace);
    for (const { role, model, isCaughtUp } of kept) {
      if (role === 'fallback' || (role === 'target' && !isCaughtUp)) continue;
      const want = wanted.get(model.modelId) ?? { model, role, items: [] };
      if (want.items.at(-1) !== item) want.items.push(item);
      wanted.set(model.modelId, want);
    }
  }
  return wanted;
}

function keptCount(state: EmbeddingState, document: NewDocument | undefined): number {
  const { namespace } = document ?? {};
  if (namespace === undefined) return state.assignments.length;
  return embeddingPlan(state).kept(namespace).length;
}

async function embedUnder(
  { catalog }: Pick<Parts, 'catalog'>,
  { model, role }: Pick<Wanted, 'model' | 'role'>,
  items: readonly number[],
  documents: readonly NewDocument[],
): Promise<Embedding[]> {
  const service = catalog.forDocuments(model);
  if (service === null) return [];
  const own = items.flatMap((item) => documents[item] ?? []);
  const embed = (options: { signal?: AbortSignal }) =>
    embedDistinct(service, own, (distinct) => service.embedUnder(model.modelId, distinct, options));
  if (role === 'active') return embed({});
  try {
    return await embed({ signal: AbortSignal.timeout(TARGET_PATIENCE_MS) });
  } catch {
    // The background asks again, with patience, and tells of what keeps failing.
    return [];
  }
}

/** Asks for each distinct text once; answers in the order of the documents. */
async function embedDistinct<Answer>(
  service: EmbeddingService,
  documents: readonly EmbeddableDocument[],
  embed: (documents: readonly EmbeddableDocument[]) => Promise<Answer[]>,
): Promise<Answer[]> {
  const distinct = new Map(documents.map((document) => [service.textOf(document), document]));
  const answers = await embed([...distinct.values()]);
  const byText = new Map([...distinct.keys()].map((text, place) => [text, answers[place]]));
  return documents.flatMap((document) => byText.get(service.textOf(document)) ?? []);
}

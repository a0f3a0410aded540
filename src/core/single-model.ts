import { conflict, type PalimpsestError } from './errors.ts';
import type {
  EmbeddableDocument,
  Embedding,
  EmbeddingProvider,
  EmbeddingPurpose,
  EmbeddingService,
  EmbedOptions,
  TextCoverage,
} from './ports.ts';

/**
 * The embedding service of one provider: one model, no fallback, and content alone is embedded. This is how a provider of one's own, or one
 * of a test, stands where the use cases want a service.
 */
export function singleModelService(provider: EmbeddingProvider): EmbeddingService {
  const { modelId, dimensions } = provider;
  const textOf = ({ content }: EmbeddableDocument) => content;
  const embedAll = (documents: readonly EmbeddableDocument[], callOptions?: Pick<EmbedOptions, 'signal'>) =>
    embeddingsOf(provider, documents.map(textOf), 'document', callOptions);
  return {
    mode: 'local',
    models: [{ modelId, dimensions, role: 'primary' }],
    documentFields: [],
    textOf,
    async embedDocuments(documents, callOptions) {
      const embeddings = await embedAll(documents, callOptions);
      return embeddings.map((embedding) => ({ embeddings: [embedding], missing: [] }));
    },
    async embedQuery(query, callOptions) {
      const [embedding] = await embeddingsOf(provider, [query], 'query', callOptions);
      return { modelId, vector: null, ...embedding, insteadOf: null };
    },
    async embedUnder(id, documents, callOptions) {
      if (id !== modelId) throw unknownModel(id, [modelId]);
      return embedAll(documents, callOptions);
    },
    async close() {
      await provider.close?.();
    },
  };
}

/** One embedding per text, in order, each with how much of the text it stands for. */
export async function embeddingsOf(
  provider: EmbeddingProvider,
  texts: readonly string[],
  purpose: EmbeddingPurpose,
  options: Pick<EmbedOptions, 'signal'> = {},
): Promise<Embedding[]> {
  const coverages = new Map<number, TextCoverage>();
  const vectors = await provider.embed(texts, purpose, {
    ...options,
    onPartial: (item, coverage) => coverages.set(item, coverage),
  });
  return vectors.map((vector, item) => ({
    modelId: provider.modelId,
    vector,
    coverage: coverages.get(item) ?? 'whole',
  }));
}

/** The error for a model that this service does not embed under. */
export function unknownModel(modelId: string, known: readonly string[]): PalimpsestError {
  return conflict(`No text is embedded under the model ${modelId} any more.`, {
    got: modelId,
    allowed: [...known],
  });
}

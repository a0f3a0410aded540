import type { ClaimedEntry, SettledEntry } from '../../core/embedding-store.ts';
import { PalimpsestError, reasonOf } from '../../core/errors.ts';
import type { EmbeddingService } from '../../core/ports.ts';

/** The model does not answer, whatever it is asked. */
export class ModelDownError extends Error {
  override readonly name = 'ModelDownError';
  /** Milliseconds its service asked to be left alone for; null where it did not say. */
  readonly afterMs: number | null;

  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
    const seconds = PalimpsestError.isInstance(cause) ? cause.retryAfterSeconds : undefined;
    this.afterMs = seconds === undefined ? null : seconds * 1000;
  }
}

/**
 * Embeds entries under a model. Where the model fails, it is asked for a harmless text: if it fails at that too it is
 * down, and is left alone after two calls, however many entries wait. Otherwise one of the entries is at fault, and
 * halving them finds it.
 *
 * @param random - In [0, 1), so that the harmless text is in nobody's cache.
 * @throws ModelDownError, and the signal's reason when that is aborted
 */
export async function embedEntries(
  service: EmbeddingService,
  modelId: string,
  entries: readonly ClaimedEntry[],
  signal: AbortSignal,
  random: () => number = Math.random,
): Promise<SettledEntry[]> {
  try {
    return await embedTogether(service, modelId, entries, signal);
  } catch (error) {
    signal.throwIfAborted();
    await requireAnswer(service, modelId, signal, random);
    const [only] = entries;
    if (only !== undefined && entries.length === 1) return [refused(only, error)];
  }
  const middle = Math.ceil(entries.length / 2);
  return [
    ...(await embedEntries(service, modelId, entries.slice(0, middle), signal, random)),
    ...(await embedEntries(service, modelId, entries.slice(middle), signal, random)),
  ];
}

async function embedTogether(
  service: EmbeddingService,
  modelId: string,
  entries: readonly ClaimedEntry[],
  signal: AbortSignal,
): Promise<SettledEntry[]> {
  const documents = entries.map(({ document }) => document);
  const embeddings = await service.embedUnder(modelId, documents, { signal });
  return entries.flatMap(({ memoryId, namespace, contentHash }, item) => {
    const embedding = embeddings[item];
    return embedding === undefined ? [] : [{ memoryId, namespace, contentHash, outcome: { embedding } }];
  });
}

async function requireAnswer(
  service: EmbeddingService,
  modelId: string,
  signal: AbortSignal,
  random: () => number,
): Promise<void> {
  const content = `Does this model answer? ${random()}`;
  try {
    await service.embedUnder(modelId, [{ content }], { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new ModelDownError(error);
  }
}

function refused({ memoryId, namespace, contentHash }: ClaimedEntry, error: unknown): SettledEntry {
  const refusal = reasonOf(error);
  return { memoryId, namespace, contentHash, outcome: { refusal } };
}

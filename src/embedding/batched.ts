import { setTimeout as pause } from 'node:timers/promises';
import type { EmbeddingProvider, EmbeddingPurpose, EmbedOptions } from '../core/ports.ts';
import { EmbeddingCallError } from './remote/call-error.ts';

export interface BatchOptions {
  /** How long the first call of a batch waits for others, ms, 0 or more, default 2. */
  readonly waitMs?: number | undefined;
  /** Texts after which a batch is not waited for any longer, 1 or more, default 128. */
  readonly maxTexts?: number | undefined;
}

export const DEFAULT_BATCH = { waitMs: 2, maxTexts: 128 } as const satisfies BatchOptions;

/** One caller's texts inside a batch. */
interface Member {
  readonly texts: readonly string[];
  readonly options: EmbedOptions;
  readonly resolve: (vectors: (Float32Array | null)[]) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch {
  readonly members: Set<Member>;
  /** Ends the inner call once nobody wants it any more. */
  readonly abandoned: AbortController;
  /** Ends the wait for more members. */
  readonly full: AbortController;
  texts: number;
}

/**
 * Puts the calls of many requests that come at about one time into one call of the provider: a service answers a
 * request of 32 texts in little more time than one of a single text, and limits requests before texts.
 *
 * Equal texts are sent once. A caller that gives up leaves; the call goes on for the others. When a shared call
 * fails because of a text, each caller's texts are sent alone, so that only the one whose text it is gets the error.
 */
export function batchedProvider(inner: EmbeddingProvider, options: BatchOptions = {}): EmbeddingProvider {
  const { waitMs = DEFAULT_BATCH.waitMs, maxTexts = DEFAULT_BATCH.maxTexts } = options;
  const open: Partial<Record<EmbeddingPurpose, Batch>> = {};

  function join(purpose: EmbeddingPurpose, member: Member): Batch {
    const batch = open[purpose] ?? begin(purpose);
    batch.members.add(member);
    batch.texts += member.texts.length;
    if (batch.texts >= maxTexts) batch.full.abort();
    return batch;
  }

  function begin(purpose: EmbeddingPurpose): Batch {
    const batch: Batch = {
      members: new Set(),
      abandoned: new AbortController(),
      full: new AbortController(),
      texts: 0,
    };
    open[purpose] = batch;
    void run(purpose, batch);
    return batch;
  }

  async function run(purpose: EmbeddingPurpose, batch: Batch): Promise<void> {
    await waitFor(waitMs, batch.full.signal);
    if (open[purpose] === batch) delete open[purpose];
    if (batch.members.size === 0) return;
    try {
      await answerAll(inner, purpose, batch.members, batch.abandoned.signal);
    } catch (error) {
      if (batch.members.size > 1 && isAboutTexts(error)) await answerOneByOne(inner, purpose, batch);
      else for (const member of batch.members) member.reject(error);
    }
  }

  return {
    modelId: inner.modelId,
    dimensions: inner.dimensions,
    embed(texts, purpose, callOptions = {}) {
      if (texts.length === 0) return Promise.resolve([]);
      return new Promise((resolve, reject) => {
        const { signal } = callOptions;
        if (signal?.aborted === true) return reject(signal.reason);
        const leave = () => {
          batch.members.delete(member);
          // One that still waits for members may yet get some.
          if (batch.members.size === 0 && open[purpose] !== batch) batch.abandoned.abort(signal?.reason);
          reject(signal?.reason);
        };
        const member: Member = {
          texts,
          options: callOptions,
          resolve(vectors) {
            signal?.removeEventListener('abort', leave);
            resolve(vectors);
          },
          reject(error) {
            signal?.removeEventListener('abort', leave);
            reject(error);
          },
        };
        const batch = join(purpose, member);
        signal?.addEventListener('abort', leave, { once: true });
      });
    },
    async close() {
      await inner.close?.();
    },
  };
}

/** Resolves after the time, or as soon as the signal is aborted. */
async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** False where the service failed, and would fail for any text. */
function isAboutTexts(error: unknown): boolean {
  if (!(error instanceof EmbeddingCallError)) return true;
  return error.failure === 'refused' || error.failure === 'too_long';
}

async function answerOneByOne(
  inner: EmbeddingProvider,
  purpose: EmbeddingPurpose,
  { members, abandoned }: Batch,
): Promise<void> {
  const answers = [...members].map(async (member) => {
    try {
      await answerAll(inner, purpose, [member], abandoned.signal);
    } catch (error) {
      member.reject(error);
    }
  });
  await Promise.all(answers);
}

async function answerAll(
  inner: EmbeddingProvider,
  purpose: EmbeddingPurpose,
  members: Iterable<Member>,
  signal: AbortSignal,
): Promise<void> {
  const all = [...members];
  const places = new Map<string, number>();
  for (const text of all.flatMap(({ texts }) => texts)) {
    if (!places.has(text)) places.set(text, places.size);
  }
  const coverages = new Map<number, 'chunked' | 'truncated'>();
  const vectors = await inner.embed([...places.keys()], purpose, {
    signal,
    onPartial: (item, coverage) => coverages.set(item, coverage),
  });
  for (const member of all) {
    for (const [item, text] of member.texts.entries()) {
      const coverage = coverages.get(places.get(text) ?? 0);
      if (coverage !== undefined) member.options.onPartial?.(item, coverage);
    }
    // Copies: two callers may have sent the same text.
    member.resolve(member.texts.map((text) => vectors[places.get(text) ?? 0]?.slice() ?? null));
  }
}

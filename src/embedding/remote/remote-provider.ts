import type { EmbeddingProvider, EmbeddingPurpose, EmbedOptions } from '../../core/ports.ts';
import { checkedProvider } from '../checked.ts';
import type { Prefixes } from '../known-models.ts';
import { type LongTextOptions, planText, type TextPlan, weightedMean, wholeText } from '../long-text.ts';
import { type CountTokens, halves } from '../split-text.ts';
import { EmbeddingCallError } from './call-error.ts';
import type { ResilientCall } from './resilient-calls.ts';

export interface RemoteProviderParts {
  readonly modelId: string;
  readonly dimensions: number;
  readonly prefixes: Prefixes;
  readonly longText: LongTextOptions;
  /** Tokens the model reads of one text. */
  readonly maxTokens: number;
  /** Texts of one request at most. */
  readonly batchSize: number;
  /** Tokens of one request at most, all its texts together. */
  readonly batchTokens: number;
  /** The model's way to count, or an estimate. Loaded when the first text could be too long. */
  readonly loadCounter: () => Promise<CountTokens>;
  readonly call: ResilientCall;
  /** One request: the vectors of these texts, as they came. */
  readonly request: (texts: readonly string[], signal: AbortSignal) => Promise<Float32Array[]>;
}

/**
 * A provider whose model is behind HTTP: puts prefixes before texts, cuts what is too long, sends requests within
 * the limits, and puts the answers together again. Blank texts are never sent: services refuse them.
 *
 * All or nothing: where one request fails, the others are given up and the whole call fails.
 */
export function remoteProvider(parts: RemoteProviderParts): EmbeddingProvider {
  const { modelId, dimensions } = parts;
  const closing = new AbortController();
  return {
    modelId,
    dimensions,
    async embed(texts, purpose, options = {}) {
      const signal = firstOf(options.signal, closing.signal);
      const plans = await plansOf(texts, purpose, parts);
      const vectors = await embedPlans(plans, purpose, signal, parts);
      for (const [item, plan] of plans.entries()) {
        reportPartial(plan, vectors[item] ?? null, item, options);
      }
      return vectors.map((answer) => answer?.vector ?? null);
    },
    async close() {
      closing.abort(new EmbeddingCallError('refused', `The embedding provider ${modelId} was closed.`));
    },
  };
}

function firstOf(signal: AbortSignal | undefined, closing: AbortSignal): AbortSignal {
  return signal === undefined ? closing : AbortSignal.any([signal, closing]);
}

/** A text's plan, or null for a blank text. */
type Plan = TextPlan | null;

/** A text's vector. `wasHalved`: the service found a piece too long all the same. */
interface Answer {
  readonly vector: Float32Array;
  readonly wasHalved: boolean;
}

async function plansOf(
  texts: readonly string[],
  purpose: EmbeddingPurpose,
  { prefixes, maxTokens, longText, loadCounter }: RemoteProviderParts,
): Promise<Plan[]> {
  const prefix = prefixes[purpose];
  const mayBeTooLong = texts.some((text) => Buffer.byteLength(prefix) + Buffer.byteLength(text) > maxTokens);
  const countTokens = mayBeTooLong ? await loadCounter() : null;
  return texts.map((text) => {
    if (text.trim() === '') return null;
    const room = countTokens === null ? maxTokens : Math.max(1, maxTokens - countTokens(prefix));
    const plan = countTokens === null ? wholeText(text) : planText(text, room, countTokens, longText);
    return { ...plan, pieces: plan.pieces.map((piece) => prefix + piece) };
  });
}

function reportPartial(plan: Plan, answer: Answer | null, item: number, { onPartial }: EmbedOptions): void {
  if (plan === null || answer === null) return;
  if (plan.coverage !== 'whole') onPartial?.(item, plan.coverage);
  else if (answer.wasHalved) onPartial?.(item, 'chunked');
}

async function embedPlans(
  plans: readonly Plan[],
  purpose: EmbeddingPurpose,
  signal: AbortSignal,
  parts: RemoteProviderParts,
): Promise<(Answer | null)[]> {
  const pieces = plans.flatMap((plan) => plan?.pieces ?? []);
  const answers = await embedPieces(pieces, purpose, signal, parts);
  let next = 0;
  return plans.map((plan) => {
    if (plan === null) return null;
    const own = answers.slice(next, next + plan.pieces.length);
    next += plan.pieces.length;
    return {
      vector: weightedMean(
        own.map(({ vector }) => vector),
        plan.weights,
      ),
      wasHalved: own.some(({ wasHalved }) => wasHalved),
    };
  });
}

async function embedPieces(
  pieces: readonly string[],
  purpose: EmbeddingPurpose,
  signal: AbortSignal,
  parts: RemoteProviderParts,
): Promise<Answer[]> {
  const others = new AbortController();
  const embed = (batch: readonly string[]) =>
    embedBatch(batch, purpose, AbortSignal.any([signal, others.signal]), parts);
  try {
    const answers = await Promise.all(batchesOf(pieces, parts).map(embed));
    return answers.flat();
  } catch (error) {
    others.abort(error);
    throw error;
  }
}

/**
 * Consecutive pieces, as many as fit one request. Tokens are taken as bytes / 3, which needs no encoding: 1.5 times
 * the truth for English prose, too few for 39 of 4,500 texts of it.
 */
export function batchesOf(
  pieces: readonly string[],
  { batchSize, batchTokens }: Pick<RemoteProviderParts, 'batchSize' | 'batchTokens'>,
): string[][] {
  const batches: string[][] = [];
  let batch: string[] = [];
  let tokens = 0;
  for (const piece of pieces) {
    const pieceTokens = Math.ceil(Buffer.byteLength(piece) / 3);
    if (batch.length > 0 && (batch.length >= batchSize || tokens + pieceTokens > batchTokens)) {
      batches.push(batch);
      batch = [];
      tokens = 0;
    }
    batch.push(piece);
    tokens += pieceTokens;
  }
  return batch.length === 0 ? batches : [...batches, batch];
}

/** How often a piece that the service calls too long is halved: 16 parts of one, then its error is final. */
const MAX_HALVINGS = 4;

/**
 * One request. Where the service finds a text too long, each text is sent alone, and the one that is too long in
 * two halves: how its tokens are counted is only known to the service.
 */
async function embedBatch(
  batch: readonly string[],
  purpose: EmbeddingPurpose,
  signal: AbortSignal,
  parts: RemoteProviderParts,
  halvings = 0,
): Promise<Answer[]> {
  try {
    const vectors = await requestChecked(batch, purpose, signal, parts);
    return vectors.map((vector) => ({ vector, wasHalved: halvings > 0 }));
  } catch (error) {
    const isTooLong = error instanceof EmbeddingCallError && error.failure === 'too_long';
    if (!isTooLong || halvings >= MAX_HALVINGS) throw error;
    if (batch.length === 1) return [await embedHalves(batch[0] ?? '', purpose, signal, parts, halvings)];
    const alone = batch.map((piece) => embedBatch([piece], purpose, signal, parts, halvings));
    return (await Promise.all(alone)).flat();
  }
}

async function embedHalves(
  piece: string,
  purpose: EmbeddingPurpose,
  signal: AbortSignal,
  parts: RemoteProviderParts,
  halvings: number,
): Promise<Answer> {
  const prefix = parts.prefixes[purpose];
  const own = halves(piece.slice(prefix.length)).filter((half) => half.trim() !== '');
  const answers = await Promise.all(
    own.map((half) => embedBatch([prefix + half], purpose, signal, parts, halvings + 1)),
  );
  const vectors = answers.flat().map(({ vector }) => vector);
  return {
    vector: weightedMean(
      vectors,
      own.map(({ length }) => length),
    ),
    wasHalved: true,
  };
}

/** Checked here, piece by piece: in a mean, a vector of zeros or of another length would go unnoticed. */
async function requestChecked(
  batch: readonly string[],
  purpose: EmbeddingPurpose,
  signal: AbortSignal,
  { modelId, dimensions, call, request }: RemoteProviderParts,
): Promise<Float32Array[]> {
  const checked = checkedProvider({
    modelId,
    dimensions,
    embed: (texts) => call({ purpose, texts: texts.length, signal }, (end) => request(texts, end)),
  });
  const vectors = await checked.embed(batch, purpose, { signal });
  return vectors.filter((vector) => vector !== null);
}

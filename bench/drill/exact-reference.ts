import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddingProvider, EmbeddingPurpose } from '../../src/core/ports.ts';

/** What a search has to find, worked out from the provider's vectors by a loop over all of them. */
export interface Reference {
  readonly modelId: string;
  /** The nearest texts of a namespace, the nearest first, with their similarity; equal texts once. */
  nearest(query: string, namespace: string, count: number): readonly Neighbour[];
  similarity(query: string, content: string): number;
  /** The vector of a text; null where the model found nothing to embed. */
  vector(content: string): Float32Array | null;
}

export interface Neighbour {
  readonly content: string;
  readonly similarity: number;
}

export interface ReferenceText {
  readonly namespace: string;
  readonly content: string;
}

/** Embeds everything, or takes it from an earlier run: a slow model makes some twenty a second. */
export async function exactReference(
  provider: EmbeddingProvider,
  texts: readonly ReferenceText[],
  queries: readonly string[],
): Promise<Reference> {
  const documents = await vectorsOf(
    provider,
    texts.map(({ content }) => content),
    'document',
  );
  const asked = await vectorsOf(provider, queries, 'query');
  const byNamespace = Map.groupBy(texts, ({ namespace }) => namespace);
  const similarity = (query: string, content: string) =>
    cosine(asked.get(query) ?? null, documents.get(content) ?? null);
  return {
    modelId: provider.modelId,
    similarity,
    vector: (content) => documents.get(content) ?? null,
    nearest(query, namespace, count) {
      const contents = new Set((byNamespace.get(namespace) ?? []).map(({ content }) => content));
      return [...contents]
        .map((content) => ({ content, similarity: similarity(query, content) }))
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, count);
    },
  };
}

/** In float64, negative values as 0, as SPEC has it. */
export function cosine(a: Float32Array | null, b: Float32Array | null): number {
  if (a === null || b === null) return 0;
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let place = 0; place < a.length; place += 1) {
    const left = a[place] ?? 0;
    const right = b[place] ?? 0;
    dot += left * right;
    squaresA += left * left;
    squaresB += right * right;
  }
  return Math.max(0, dot / Math.sqrt(squaresA * squaresB));
}

const BATCH = 256;

async function vectorsOf(
  provider: EmbeddingProvider,
  texts: readonly string[],
  purpose: EmbeddingPurpose,
): Promise<Map<string, Float32Array | null>> {
  const file = join(
    tmpdir(),
    'palimpsest-bench',
    `${provider.modelId.replaceAll(/\W+/g, '-')}.${purpose}.json`,
  );
  const kept: Record<string, string> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const missing = [...new Set(texts)].filter((text) => kept[hashOf(text)] === undefined);
  for (let from = 0; from < missing.length; from += BATCH) {
    const batch = missing.slice(from, from + BATCH);
    const vectors = await provider.embed(batch, purpose);
    batch.forEach((text, place) => {
      kept[hashOf(text)] = encode(vectors[place] ?? null);
    });
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, JSON.stringify(kept));
    console.error(
      `reference ${provider.modelId}: ${from + batch.length} of ${missing.length} ${purpose} texts`,
    );
  }
  return new Map(texts.map((text) => [text, decode(kept[hashOf(text)] ?? '')]));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function encode(vector: Float32Array | null): string {
  return vector === null
    ? ''
    : Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

function decode(text: string): Float32Array | null {
  if (text === '') return null;
  const bytes = Buffer.from(text, 'base64');
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

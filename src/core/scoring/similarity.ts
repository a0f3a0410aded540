/** Into [0, 1]: an opposite direction is worth no more than an unrelated one, and NaN is no similarity. */
function clampSimilarity(cosine: number): number {
  return cosine > 0 ? Math.min(1, cosine) : 0;
}

/**
 * Similarity out of pgvector's cosine distance (`<=>`, in [0, 2], lower is nearer): `1 - distance`, negative
 * values taken as 0. No distance (no vector) and NaN (pgvector's answer for a zero vector) give 0.
 *
 * Ontheia's reference, section 1.1, writes `1 - (a · b)`; its table and its range only hold for one minus the
 * cosine *distance*, which is meant here.
 *
 * @returns In [0, 1], higher is nearer.
 */
export function similarityFromDistance(distance: number | null): number {
  return distance === null ? 0 : clampSimilarity(1 - distance);
}

/**
 * Similarity where words are compared, because no vector can be: the share of the query's distinct words that an
 * entry holds. An entry that holds all of them has 1, whatever else it says. A query without words finds nothing: 0.
 *
 * @param found - How many of the query's words the entry holds, 0..`asked`.
 * @param asked - How many distinct words the query has.
 * @returns In [0, 1].
 */
export function similarityFromWords(found: number, asked: number): number {
  return asked === 0 ? 0 : found / asked;
}

/**
 * Cosine similarity `a · b / (|a| |b|)`, negative values taken as 0. Vectors of different lengths, empty ones
 * and zero vectors have none: 0, as Venkai's ranking page says.
 *
 * Sums in double precision, where the square of any float32 is finite and not 0.
 *
 * @returns In [0, 1], higher is nearer.
 */
export function cosineSimilarity(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0;
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let index = 0; index < a.length; index += 1) {
    const x = a[index] ?? 0;
    const y = b[index] ?? 0;
    dot += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  return clampSimilarity(dot / (Math.sqrt(squaresA) * Math.sqrt(squaresB)));
}

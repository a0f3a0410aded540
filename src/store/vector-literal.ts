/** Share of components that may be other than zero for the sparse form to be the shorter text. */
const SPARSE_SHARE = 0.5;

/** Longest sparse vector pgvector reads, in components other than zero. */
const MAX_SPARSE_NON_ZEROS = 16_000;

/**
 * A vector as text for `$n::vector`, or for `$n::sparsevec::vector` where most components are zero, as with
 * hashed text: a 512-dimensional one with 20 tokens is 250 bytes instead of 1,200, and parsing text is what
 * bulk import into PGlite spends its time on.
 */
export function vectorLiteral(vector: Float32Array): { text: string; sparse: boolean } {
  let nonZeros = 0;
  for (const component of vector) if (component !== 0) nonZeros += 1;
  const sparse = nonZeros <= vector.length * SPARSE_SHARE && nonZeros <= MAX_SPARSE_NON_ZEROS;
  return { text: sparse ? sparseText(vector) : `[${vector.join(',')}]`, sparse };
}

/** pgvector's sparsevec text: indices from 1, only components other than zero. */
function sparseText(vector: Float32Array): string {
  const parts: string[] = [];
  vector.forEach((component, index) => {
    if (component !== 0) parts.push(`${index + 1}:${component}`);
  });
  return `{${parts.join(',')}}/${vector.length}`;
}

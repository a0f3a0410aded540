import { createHash } from 'node:crypto';
import type { Prefixes } from './known-models.ts';
import { DEFAULT_LONG_TEXT, type LongTextOptions } from './long-text.ts';

/** Everything, beside the model itself, that gives a text another vector. */
export interface VectorSettings {
  readonly prefixes: Prefixes;
  readonly longText: LongTextOptions;
  readonly maxTokens: number;
}

/**
 * A model id that says with which settings its vectors were made: `base` alone for the usual ones, else followed by
 * `+` and eight hexadecimal digits of their hash. So a changed prefix is another model, whose vectors are made
 * anew, and never half of the entries under the old one.
 */
export function variantId(base: string, settings: VectorSettings, usual: VectorSettings): string {
  const fingerprint = fingerprintOf(settings);
  return fingerprint === fingerprintOf(usual) ? base : `${base}+${fingerprint}`;
}

function fingerprintOf({ prefixes, longText, maxTokens }: VectorSettings): string {
  return shortHash([
    prefixes.document,
    prefixes.query,
    longText.longText ?? DEFAULT_LONG_TEXT.longText,
    longText.maxChunks ?? DEFAULT_LONG_TEXT.maxChunks,
    maxTokens,
  ]);
}

/** Eight hexadecimal digits that stand for some values. */
export function shortHash(values: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 8);
}

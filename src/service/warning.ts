import { RISKY_RELATIVE_CUTOFF } from '../core/defaults.ts';

/** Something that works and is probably not meant. */
export interface Warning {
  readonly code: 'risky_relative_cutoff' | 'reads_nothing';
  readonly message: string;
}

/** SPEC section 4: from 0.8 upwards a relative cutoff takes many legitimate hits. */
export function cutoffWarnings(relativeCutoff: number | null): Warning[] {
  if (relativeCutoff === null || relativeCutoff < RISKY_RELATIVE_CUTOFF) return [];
  return [
    {
      code: 'risky_relative_cutoff',
      message: `A relative_cutoff of ${relativeCutoff} keeps only what is nearly as good as the best hit; from ${RISKY_RELATIVE_CUTOFF} upwards many legitimate hits go.`,
    },
  ];
}

import {
  DEFAULT_HNSW_SEARCH,
  HNSW_RANGES,
  type HnswSearchOptions,
  ITERATIVE_SCANS,
} from '../core/vector-index.ts';
import { wholeNumber, word } from './form.ts';
import { defineSettings, type ReadSetting } from './setting.ts';

export const HNSW_SETTINGS = defineSettings({
  exactUpTo: {
    key: 'hnsw.exact_up_to',
    variable: 'PALIMPSEST_HNSW_EXACT_UP_TO',
    form: wholeNumber(0),
    meaning:
      'Scopes of up to so many vectors are measured whole, whatever indexes there are. Above it a search goes by the index of its model, where somebody made one, and says `exact: false`.',
    standard: String(DEFAULT_HNSW_SEARCH.exactUpTo),
  },
  efSearch: {
    key: 'hnsw.ef_search',
    variable: 'PALIMPSEST_HNSW_EF_SEARCH',
    form: wholeNumber(...HNSW_RANGES.efSearch),
    meaning: 'Candidates that pgvector keeps in mind: higher finds more and takes longer.',
    standard: String(DEFAULT_HNSW_SEARCH.efSearch),
  },
  iterativeScan: {
    key: 'hnsw.iterative_scan',
    variable: 'PALIMPSEST_HNSW_ITERATIVE_SCAN',
    form: word(ITERATIVE_SCANS),
    meaning: 'How pgvector goes on where too many of the nearest lie outside of the scope.',
    standard: `\`${DEFAULT_HNSW_SEARCH.iterativeScan}\``,
  },
  maxScanTuples: {
    key: 'hnsw.max_scan_tuples',
    variable: 'PALIMPSEST_HNSW_MAX_SCAN_TUPLES',
    form: wholeNumber(1, 2_147_483_647),
    meaning: 'Vectors that pgvector looks at before it gives up; the scope is then measured whole.',
    standard: String(DEFAULT_HNSW_SEARCH.maxScanTuples),
  },
});

/** How approximate indexes are searched, where there are any. @throws PalimpsestError `invalid_config` */
export function hnswConfig(read: ReadSetting): HnswSearchOptions {
  return {
    exactUpTo: read(HNSW_SETTINGS.exactUpTo).value ?? DEFAULT_HNSW_SEARCH.exactUpTo,
    efSearch: read(HNSW_SETTINGS.efSearch).value ?? DEFAULT_HNSW_SEARCH.efSearch,
    iterativeScan: read(HNSW_SETTINGS.iterativeScan).value ?? DEFAULT_HNSW_SEARCH.iterativeScan,
    maxScanTuples: read(HNSW_SETTINGS.maxScanTuples).value ?? DEFAULT_HNSW_SEARCH.maxScanTuples,
  };
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseImportLine } from '../src/contract/import-line.ts';
import type { MemoryDraft } from '../src/core/types.ts';

/** Texts to measure with: real conversations where they are at hand, made-up ones elsewhere. */
export interface Corpus {
  readonly name: string;
  readonly drafts: readonly MemoryDraft[];
  readonly queries: readonly string[];
}

const DATA = join(import.meta.dirname, '..', '..', 'shared', 'data');

/** The data set of that name, or made-up texts of about the same number and length. */
export function readCorpus(name: string): Corpus {
  const folder = join(DATA, name);
  if (!existsSync(folder)) return syntheticCorpus(5_882);
  const drafts = lines(join(folder, 'corpus.jsonl')).flatMap((line) => parseImportLine(line, undefined));
  const queries = lines(join(folder, 'queries.jsonl')).map((line) =>
    String((line as { query: unknown }).query),
  );
  return { name, drafts, queries };
}

function lines(file: string): unknown[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
}

/** Sentences of words that occur as unevenly as words do (Zipf), the same at every run. */
function syntheticCorpus(size: number): Corpus {
  const random = mulberry32(7);
  const word = () => `word${Math.floor(1 / (random() + 0.0002))}`;
  const sentence = () => Array.from({ length: 6 + Math.floor(random() * 24) }, word).join(' ');
  const drafts = Array.from({ length: size }, (_, index) => ({
    namespace: `conversation-${index % 10}`,
    content: `${sentence()} ${index}`,
  }));
  return { name: 'synthetic', drafts, queries: Array.from({ length: 200 }, sentence) };
}

/** A small generator with a seed, so that a run can be repeated (Tommy Ettinger's mulberry32). */
export function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

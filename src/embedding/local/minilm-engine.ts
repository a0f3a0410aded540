import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';
import { PalimpsestError } from '../../core/errors.ts';
import { planText, weightedMean } from '../long-text.ts';
import type { EngineAnswer, LocalEngine, MinilmSpec } from './engine.ts';
import { ENGINE_PACKAGE, MODEL_PACKAGE } from './minilm-packages.ts';
import { exportedFunction, importPackage } from './optional-package.ts';

/** What the model package describes, and what a folder of one's own is described as. */
interface Manifest {
  readonly tokenizerPath: string;
  readonly maxTokens: number;
}

/**
 * all-MiniLM-L6-v2, or another BERT of mean pooling, in WebAssembly.
 *
 * The package cuts a text at the model's limit in silence, so texts are counted with the model's own tokenizer, and
 * cut here. It would also start a thread per core for 24 texts or more; one at a time never comes to that. It is
 * never given a `key`, which would make it send the texts to a remote service.
 */
export async function loadMinilmEngine(spec: MinilmSpec): Promise<LocalEngine> {
  const manifest = spec.files === null ? await packagedManifest() : ownManifest(spec.files);
  const embedder: unknown = await exportedFunction(
    await importPackage(ENGINE_PACKAGE),
    'createEmbedder',
  )({ model: manifest });
  const tokenizer = new Tokenizer(JSON.parse(readFileSync(manifest.tokenizerPath, 'utf8')), {});
  const tokensAdded = tokenizer.encode('').ids.length;
  const room = manifest.maxTokens - tokensAdded;
  const tokensOf = (text: string): readonly string[] =>
    tokenizer.encode(text, { add_special_tokens: false }).tokens;
  const isKnown = (text: string) => tokensOf(text).some((token) => token !== UNKNOWN_TOKEN);

  const embedOne = async (text: string): Promise<EngineAnswer> => {
    // What has no token the model knows has a vector all the same, the same one for every such text.
    if (!isKnown(text)) return { vector: null, coverage: 'whole' };
    const plan = planText(text, room, (piece) => tokensOf(piece).length, spec.longText);
    const vectors: Float32Array[] = [];
    for (const piece of plan.pieces) vectors.push(await vectorOf(embedder, piece));
    return { vector: weightedMean(vectors, plan.weights), coverage: plan.coverage };
  };

  return {
    async embed(texts) {
      const answers: EngineAnswer[] = [];
      for (const text of texts) answers.push(await embedOne(text));
      return answers;
    },
  };
}

const UNKNOWN_TOKEN = '[UNK]';

async function packagedManifest(): Promise<Manifest> {
  const { default: manifest } = await importPackage(MODEL_PACKAGE);
  if (isManifest(manifest)) return manifest;
  throw new PalimpsestError('embedding_failed', `The package ${MODEL_PACKAGE} describes no model.`, {
    details: [{ hint: 'Install the version this server names.' }],
  });
}

function ownManifest(files: NonNullable<MinilmSpec['files']>): Manifest {
  const described = { ...files, id: 'own', pooling: 'mean', normalize: true };
  return described;
}

function isManifest(value: unknown): value is Manifest {
  return (
    typeof value === 'object' &&
    value !== null &&
    'tokenizerPath' in value &&
    typeof value.tokenizerPath === 'string' &&
    'maxTokens' in value &&
    typeof value.maxTokens === 'number'
  );
}

async function vectorOf(embedder: unknown, text: string): Promise<Float32Array> {
  const isEmbedder = typeof embedder === 'object' && embedder !== null && 'embed' in embedder;
  const embed = isEmbedder ? embedder.embed : undefined;
  const answer: unknown =
    typeof embed === 'function' ? await Reflect.apply(embed, embedder, [[text]]) : undefined;
  const vector: unknown = Array.isArray(answer) ? answer[0] : undefined;
  if (Array.isArray(vector)) return Float32Array.from(vector, Number);
  throw new PalimpsestError('embedding_failed', `The package ${ENGINE_PACKAGE} answered no vector.`);
}

import { parentPort, type Transferable, workerData } from 'node:worker_threads';
import { type ErrorCode, type ErrorDetail, PalimpsestError, reasonOf } from '../../core/errors.ts';
import type { EngineAnswer, EngineSpec, LocalEngine } from './engine.ts';
import { loadMinilmEngine } from './minilm-engine.ts';
import { loadTransformersEngine } from './transformers-engine.ts';

/**
 * The entry of the thread that runs a model. It loads the model when the first text comes, so that a server that is
 * never asked for a vector does not take its memory.
 */

export interface WorkerRequest {
  readonly texts: readonly string[];
}

export type WorkerAnswer =
  | { readonly answers: readonly EngineAnswer[] }
  | {
      readonly error: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly details: readonly ErrorDetail[];
      };
    };

/**
 * What a library prints must not get between the messages of a protocol on standard output. Redirected here: a
 * stream that the other side reads from would keep its process alive.
 */
process.stdout.write = process.stderr.write.bind(process.stderr);

let engine: Promise<LocalEngine> | undefined;

async function answer({ texts }: WorkerRequest): Promise<void> {
  try {
    const answers = await (await loadedEngine()).embed(texts);
    const buffers: Transferable[] = answers.flatMap(({ vector }) =>
      vector?.buffer instanceof ArrayBuffer ? [vector.buffer] : [],
    );
    parentPort?.postMessage({ answers } satisfies WorkerAnswer, buffers);
  } catch (error) {
    parentPort?.postMessage({ error: described(error) } satisfies WorkerAnswer);
  }
}

async function loadedEngine(): Promise<LocalEngine> {
  engine ??= loadEngine(workerData);
  try {
    return await engine;
  } catch (error) {
    // What was missing may be there at the next call.
    engine = undefined;
    throw error;
  }
}

function loadEngine(spec: EngineSpec): Promise<LocalEngine> {
  return spec.engine === 'minilm' ? loadMinilmEngine(spec) : loadTransformersEngine(spec);
}

/** An error as it crosses threads: a class does not survive the way. */
function described(error: unknown) {
  if (PalimpsestError.isInstance(error)) {
    return { code: error.code, message: error.message, details: [...error.details] };
  }
  const message = reasonOf(error);
  return { code: 'embedding_failed', message: `The model failed: ${message}`, details: [] } as const;
}

parentPort?.on('message', (request: WorkerRequest) => void answer(request));

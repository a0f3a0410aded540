import type { EmbeddingPurpose } from '../core/ports.ts';
import type { CallFailure } from './remote/call-error.ts';

/** What happens to calls for embeddings, for logs and metrics. No event holds a text, a vector or a key. */
export type EmbeddingEvent =
  | {
      readonly kind: 'answered';
      readonly modelId: string;
      readonly purpose: EmbeddingPurpose;
      readonly texts: number;
      readonly durationMs: number;
    }
  /** No attempt succeeded. `local_model`: a model in this process. Calls that were given up by whoever made them are left out. */
  | {
      readonly kind: 'failed';
      readonly modelId: string;
      readonly purpose: EmbeddingPurpose;
      readonly failure: CallFailure | 'local_model';
      readonly durationMs: number;
    }
  | {
      readonly kind: 'retry';
      readonly modelId: string;
      readonly failure: CallFailure;
      /** 1 for the first retry. */
      readonly retry: number;
      readonly waitMs: number;
      readonly message: string;
    }
  /** The service is left alone for a while; calls fail at once. */
  | { readonly kind: 'circuit_open'; readonly modelId: string; readonly message: string }
  | { readonly kind: 'circuit_closed'; readonly modelId: string }
  /** A query was answered by the fallback model. */
  | {
      readonly kind: 'fallback';
      readonly modelId: string;
      readonly insteadOf: string;
      readonly message: string;
    }
  /** Documents got no vector under one model, and are to be filled in later. */
  | {
      readonly kind: 'missing';
      readonly modelId: string;
      readonly documents: number;
      readonly message: string;
    };

export type EmbeddingObserver = (event: EmbeddingEvent) => void;

import type { ErrorCode } from './errors.ts';

/** A part of the work that is timed: a use case, or one stage of a ranked read. Names are ours, never a caller's. */
export interface Step {
  readonly kind: 'operation' | 'recall_stage';
  readonly name: string;
}

export interface NewRequest {
  readonly method: string;
  /** The route's pattern, such as `/v1/memories/:id`, never what stands in its place; null: there is no such route. */
  readonly route: string | null;
  /** Of these, what other services say of the trace that the request belongs to is read. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** A request under way. */
export interface BegunRequest {
  /** Id of the distributed trace it belongs to; null where none is kept. */
  readonly traceId: string | null;
  /** Runs what belongs to the request. */
  run(work: () => void): void;
  /** @param code of the error that was answered; null: none was */
  end(status: number, code: ErrorCode | null): void;
}

/** What a ranked read came to. */
export interface RecallOutcome {
  /** The model that measured similarity; null: none did. */
  readonly modelId: string | null;
  readonly degraded: boolean;
  readonly exact: boolean;
}

/**
 * Told what happens and how long it takes, for metrics and spans. Never gets a content, a query, a namespace, an id,
 * a key, or the name of a user or tenant.
 */
export interface Telemetry {
  request(request: NewRequest): BegunRequest;
  /** Carries the work out. What it rejects with comes through. */
  step<T>(step: Step, work: () => Promise<T>): Promise<T>;
  recalled(outcome: RecallOutcome): void;
  /** Entries were written. */
  wrote(operation: 'create' | 'refresh', entries: number): void;
}

/** For those who measure nothing. */
export const NO_TELEMETRY: Telemetry = {
  request: () => ({ traceId: null, run: (work) => work(), end() {} }),
  step: (_step, work) => work(),
  recalled() {},
  wrote() {},
};

/** Tells both. What belongs to a step runs inside the first one's. */
export function bothTelemetries(first: Telemetry, second: Telemetry): Telemetry {
  return {
    request(request) {
      const [one, other] = [first.request(request), second.request(request)];
      return {
        traceId: one.traceId ?? other.traceId,
        run: (work) => one.run(() => other.run(work)),
        end(status, code) {
          other.end(status, code);
          one.end(status, code);
        },
      };
    },
    step: (step, work) => first.step(step, () => second.step(step, work)),
    recalled(outcome) {
      first.recalled(outcome);
      second.recalled(outcome);
    },
    wrote(operation, entries) {
      first.wrote(operation, entries);
      second.wrote(operation, entries);
    },
  };
}

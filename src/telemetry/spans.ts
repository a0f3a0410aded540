import {
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { NewRequest, Telemetry } from '../core/telemetry.ts';
import { codeOf } from './outcome.ts';

const TRACER = 'palimpsest';
const FIRST_SERVER_ERROR = 500;

/**
 * Spans by the OpenTelemetry API: they go to whatever SDK this process has registered, and nowhere without one.
 *
 * - `GET /v1/memories/:id`: one per request, a child of the trace that its `traceparent` header names.
 * - `palimpsest.recall`: one per use case, over whichever face it was called.
 * - `palimpsest.recall.candidates`: one per stage of a ranked read.
 *
 * They carry names of ours, numbers and error codes. An error's message is left out: it repeats what callers sent.
 */
export function createSpans(): Telemetry {
  const tracer = trace.getTracer(TRACER);
  return {
    request(request) {
      const parent = propagation.extract(context.active(), request.headers);
      const span = tracer.startSpan(
        nameOf(request),
        { kind: SpanKind.SERVER, attributes: attributesOf(request) },
        parent,
      );
      return {
        traceId: traceIdOf(span),
        run: (work) => inSpan(parent, span, work),
        end(status, code) {
          span.setAttribute('http.response.status_code', status);
          if (code !== null) span.setAttribute('error.type', code);
          if (status >= FIRST_SERVER_ERROR) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    step: ({ kind, name }, work) => {
      const spanName = kind === 'operation' ? `palimpsest.${name}` : `palimpsest.recall.${name}`;
      return tracer.startActiveSpan(spanName, async (span) => {
        try {
          return await work();
        } catch (error) {
          span.setAttribute('error.type', codeOf(error));
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      });
    },
    recalled({ modelId, degraded, exact }) {
      trace.getActiveSpan()?.setAttributes({
        ...(modelId !== null && { 'palimpsest.embedding_model': modelId }),
        'palimpsest.degraded': degraded,
        'palimpsest.exact': exact,
      });
    },
    wrote(operation, entries) {
      trace.getActiveSpan()?.setAttribute(`palimpsest.entries.${operation}`, entries);
    },
  };
}

function inSpan(parent: Context, span: Span, work: () => void): void {
  context.with(trace.setSpan(parent, span), work);
}

function nameOf({ method, route }: NewRequest): string {
  return route === null ? method : `${method} ${route}`;
}

function attributesOf({ method, route }: NewRequest): Record<string, string> {
  return { 'http.request.method': method, ...(route !== null && { 'http.route': route }) };
}

/** Without an SDK every span has the id of nothing. */
function traceIdOf(span: Span): string | null {
  return trace.isSpanContextValid(span.spanContext()) ? span.spanContext().traceId : null;
}

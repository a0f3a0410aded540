import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it came, its attributes by name. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** What a collector got so far. */
export interface SpanCollector {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly bodies: readonly string[];
  readonly resources: readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

type WireAttributes = readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];

interface WireBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: WireAttributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes'> & { readonly attributes: WireAttributes })[];
    }[];
  }[];
}

function valuesOf(attributes: WireAttributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** A collector on loopback that takes what exporters send: OTLP over HTTP, as JSON. */
export async function startSpanCollector(): Promise<SpanCollector> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const resources: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    bodies.push(body);
    for (const { resource, scopeSpans } of (JSON.parse(body) as WireBody).resourceSpans) {
      resources.push(valuesOf(resource.attributes));
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ ...span, attributes: valuesOf(span.attributes) });
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    resources,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

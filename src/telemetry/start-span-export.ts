import { setTimeout as pause } from 'node:timers/promises';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { hasCode, PalimpsestError } from '../core/errors.ts';

export interface SpanExportOptions {
  /** Version of this product. */
  readonly version: string;
  /** Told what the SDK complains about, such as a collector that does not answer. */
  readonly onProblem: (message: string) => void;
}

/** The spans of this process, on their way to a collector. */
export interface SpanExport {
  /** Sends what waits, for a few seconds at most. */
  stop(): Promise<void>;
}

/** A collector that does not answer must not keep the process. */
const STOP_DEADLINE_MS = 3_000;

/**
 * Sends this process' spans to a collector over OTLP/HTTP. Where to, how many and under which name, the SDK reads
 * from OpenTelemetry's own variables.
 *
 * @throws PalimpsestError `invalid_config` where the SDK, which is optional, is not installed
 */
export async function startSpanExport({ version, onProblem }: SpanExportOptions): Promise<SpanExport> {
  const { BatchSpanProcessor, NodeTracerProvider, OTLPTraceExporter, resources } = await importSdk();
  diag.setLogger(problemLogger(onProblem), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const named = resources.resourceFromAttributes({
    'service.name': 'palimpsest',
    'service.version': version,
  });
  const provider = new NodeTracerProvider({
    resource: named.merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return {
    async stop() {
      // The log may be closed by then, and nobody can do anything about spans that were not taken.
      const stopped = provider.shutdown().catch((error: unknown) => onProblem(String(error)));
      const ended = new AbortController();
      await Promise.race([stopped, pause(STOP_DEADLINE_MS, undefined, { signal: ended.signal })]);
      ended.abort();
    },
  };
}

/** With the versions that go together: the newest of each need not. As in package.json. */
export const SDK_PACKAGES = [
  '@opentelemetry/sdk-trace-node@^2.12.1',
  '@opentelemetry/exporter-trace-otlp-http@^0.223.1',
  '@opentelemetry/resources@^2.12.1',
];

async function importSdk() {
  try {
    const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
    return { BatchSpanProcessor, NodeTracerProvider, OTLPTraceExporter, resources };
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    const command = `npm install ${SDK_PACKAGES.join(' ')}`;
    throw new PalimpsestError(
      'invalid_config',
      `OpenTelemetry's variables ask for spans, and its SDK is not installed. Run: ${command}, or set OTEL_SDK_DISABLED=true.`,
      {
        details: [{ path: 'OTEL_EXPORTER_OTLP_ENDPOINT', allowed: SDK_PACKAGES, hint: `Run: ${command}` }],
        cause: error,
      },
    );
  }
}

function problemLogger(onProblem: (message: string) => void) {
  const ignore = () => {};
  return { error: onProblem, warn: onProblem, info: ignore, debug: ignore, verbose: ignore };
}

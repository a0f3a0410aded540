import type { Environment } from './environment.ts';

/**
 * The variables of OpenTelemetry that decide whether spans are sent. What they mean, and all further ones (sampler,
 * headers, service name …), is the SDK's to read.
 */
export const TELEMETRY_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'Where spans are sent, such as `http://localhost:4318`. Setting it switches them on.',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT:
    'The same for spans alone, with the path, such as `http://localhost:4318/v1/traces`.',
  OTEL_EXPORTER_OTLP_PROTOCOL: 'Spans are sent by HTTP as JSON, whatever it says; `grpc` is warned about.',
  OTEL_TRACES_EXPORTER: '`none` switches spans off.',
  OTEL_SDK_DISABLED: '`true` switches spans off.',
} as const;

type TelemetryVariable = keyof typeof TELEMETRY_VARIABLES;

export interface TelemetryConfig {
  /** Whether spans are to be sent. Default false. */
  readonly sendsSpans: boolean;
}

export function telemetryConfig(environment: Environment): TelemetryConfig {
  const value = (name: TelemetryVariable) => environment[name] ?? '';
  const isOff =
    value('OTEL_SDK_DISABLED').toLowerCase() === 'true' || value('OTEL_TRACES_EXPORTER') === 'none';
  const hasPlace =
    value('OTEL_EXPORTER_OTLP_ENDPOINT') !== '' || value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== '';
  return { sendsSpans: !isOff && hasPlace };
}

/** What is asked for and not done. */
export function telemetryWarnings(environment: Environment): string[] {
  if (!telemetryConfig(environment).sendsSpans || environment.OTEL_EXPORTER_OTLP_PROTOCOL !== 'grpc')
    return [];
  return [
    "OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and spans are sent by HTTP as JSON: name the collector's HTTP port, usually 4318.",
  ];
}

import { list, number, onOff, parsed, secret, text, wholeNumber } from './form.ts';
import { defineSettings, type ReadSetting } from './setting.ts';

export interface RateLimitConfig {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** Where identities are required and nothing else is said: 20 requests a second, all day long. */
export const DEFAULT_RATE_LIMIT: RateLimitConfig = { requests: 1200, windowSeconds: 60 };

export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 7077;
const MIN_TOKEN_LENGTH = 16;
const MAX_STOP_DELAY_SECONDS = 600;

/** Where the server listens, and how it treats its clients. */
export interface HttpConfig {
  /** Default 127.0.0.1. */
  readonly host: string;
  /** 0..65535, default 7077. 0 takes any free port. */
  readonly port: number;
  /** Origins whose pages may use the API. Default: none. */
  readonly corsOrigins: readonly string[];
  /** Requests of one asker in a window; null: nobody's are counted. Undefined: whatever fits who may ask. */
  readonly rateLimit: RateLimitConfig | null | undefined;
  /** Addresses or networks of proxies whose X-Forwarded headers are believed. Default: none. */
  readonly trustedProxies: readonly string[];
  /** Whether `/metrics` is served. Default true. */
  readonly metrics: boolean;
  /** What a scraper shows as a bearer token where identities are required. Default: nobody reads `/metrics` there. */
  readonly metricsToken: string | undefined;
  /** Seconds between being told to stop, when `/readyz` turns 503, and no longer listening. Default 0. */
  readonly stopDelaySeconds: number;
}

export const HTTP_SETTINGS = defineSettings({
  host: {
    key: 'http.host',
    variable: 'PALIMPSEST_HOST',
    option: '--host',
    form: text('an address of this machine'),
    meaning: 'Address to listen on. Any but those of this machine alone needs `identity.mode: required`.',
    standard: `\`${DEFAULT_HOST}\``,
  },
  port: {
    key: 'http.port',
    variable: 'PALIMPSEST_PORT',
    option: '--port',
    form: wholeNumber(0, 65_535),
    meaning: 'Port to listen on; 0 takes any free one.',
    standard: String(DEFAULT_PORT),
  },
  corsOrigins: {
    key: 'http.cors_origins',
    variable: 'PALIMPSEST_CORS_ORIGINS',
    form: list(text('origins such as https://console.example.com', isOrigin)),
    meaning: 'Origins whose pages may use the API.',
    standard: 'none',
  },
  rateLimit: {
    key: 'http.rate_limit',
    variable: 'PALIMPSEST_RATE_LIMIT',
    form: parsed<RateLimitConfig | null>('requests/seconds such as 1200/60, or off', rateLimit),
    meaning: 'How often one key, user or address may ask.',
    standard: `\`${DEFAULT_RATE_LIMIT.requests}/${DEFAULT_RATE_LIMIT.windowSeconds}\` where identities are required, else \`off\``,
  },
  trustedProxies: {
    key: 'http.trusted_proxies',
    variable: 'PALIMPSEST_TRUSTED_PROXIES',
    form: list(text('addresses or networks such as 10.0.0.0/8')),
    meaning: 'Proxies whose `X-Forwarded-…` headers are believed.',
    standard: 'none',
  },
  metrics: {
    key: 'http.metrics',
    variable: 'PALIMPSEST_METRICS',
    form: onOff,
    meaning: 'Whether `/metrics` answers Prometheus; see [operations](operations.md#metrics).',
    standard: '`on`',
  },
  metricsToken: {
    key: null,
    variable: 'PALIMPSEST_METRICS_TOKEN',
    form: secret('a secret of at least 16 characters', (value) => value.length >= MIN_TOKEN_LENGTH),
    meaning:
      'What a scraper shows as a bearer token. Where it is set it is asked for; where identities are required, `/metrics` answers nobody without it.',
    standard: 'none',
  },
  stopDelaySeconds: {
    key: 'http.stop_delay_seconds',
    variable: 'PALIMPSEST_STOP_DELAY_SECONDS',
    form: number(0, MAX_STOP_DELAY_SECONDS),
    meaning:
      'Time between being told to stop, when `/readyz` turns 503, and no longer listening: as long as a load balancer needs to notice.',
    standard: '0',
  },
});

/** @throws PalimpsestError `invalid_config` */
export function httpConfig(read: ReadSetting): HttpConfig {
  return {
    host: read(HTTP_SETTINGS.host).value ?? DEFAULT_HOST,
    port: read(HTTP_SETTINGS.port).value ?? DEFAULT_PORT,
    corsOrigins: read(HTTP_SETTINGS.corsOrigins).value ?? [],
    rateLimit: read(HTTP_SETTINGS.rateLimit).value,
    trustedProxies: read(HTTP_SETTINGS.trustedProxies).value ?? [],
    metrics: read(HTTP_SETTINGS.metrics).value ?? true,
    metricsToken: read(HTTP_SETTINGS.metricsToken).value,
    stopDelaySeconds: read(HTTP_SETTINGS.stopDelaySeconds).value ?? 0,
  };
}

/** Not `*`: pages of everybody could then use what a browser of the network reaches. */
function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}

function rateLimit(value: string): RateLimitConfig | null | undefined {
  if (value === 'off') return null;
  const parts = /^(?<requests>[1-9]\d{0,8})\/(?<seconds>[1-9]\d{0,5})$/.exec(value)?.groups;
  if (parts === undefined) return undefined;
  return { requests: Number(parts.requests), windowSeconds: Number(parts.seconds) };
}

import { excerpt, type PalimpsestError } from '../core/errors.ts';
import { invalidConfig, listOf, type Setting, type Settings } from './setting.ts';

export interface RateLimitConfig {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** Where identities are required and nothing else is said: 20 requests a second, all day long. */
export const DEFAULT_RATE_LIMIT: RateLimitConfig = { requests: 1200, windowSeconds: 60 };

/** How the HTTP API treats its clients. */
export interface HttpConfig {
  /** Origins whose pages may use the API. Default: none. */
  readonly corsOrigins: readonly string[];
  /** Requests of one asker in a window; null: nobody's are counted. Undefined: whatever fits who may ask. */
  readonly rateLimit: RateLimitConfig | null | undefined;
  /** Addresses or networks of proxies whose X-Forwarded headers are believed. Default: none. */
  readonly trustedProxies: readonly string[];
}

export const HTTP_NAMES = [
  'PALIMPSEST_CORS_ORIGINS',
  'PALIMPSEST_RATE_LIMIT',
  'PALIMPSEST_TRUSTED_PROXIES',
] as const;

/** @throws PalimpsestError `invalid_config` */
export function httpConfig(setting: Settings<(typeof HTTP_NAMES)[number]>): HttpConfig {
  return {
    corsOrigins: origins(setting('PALIMPSEST_CORS_ORIGINS')),
    rateLimit: rateLimit(setting('PALIMPSEST_RATE_LIMIT')),
    trustedProxies: listOf(setting('PALIMPSEST_TRUSTED_PROXIES')),
  };
}

function origins(setting: Setting): string[] {
  const given = listOf(setting);
  const wrong = given.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return given;
  throw refused(setting.name, wrong, 'origins such as https://console.example.com, separated by commas');
}

/** Not `*`: pages of everybody could then use what a browser of the network reaches. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function rateLimit(setting: Setting): HttpConfig['rateLimit'] {
  const { value, name } = setting;
  if (value === undefined) return undefined;
  if (value === 'off') return null;
  const parts = /^(?<requests>[1-9]\d{0,8})\/(?<seconds>[1-9]\d{0,5})$/.exec(value)?.groups;
  if (parts !== undefined) {
    return { requests: Number(parts.requests), windowSeconds: Number(parts.seconds) };
  }
  throw refused(name, value, 'requests/seconds such as 1200/60, or off');
}

function refused(name: string, value: string, allowed: string): PalimpsestError {
  return invalidConfig(`${name} has ${excerpt(value)}; allowed: ${allowed}.`, value, allowed, undefined);
}

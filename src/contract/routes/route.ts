import type { z } from 'zod';
import type { ErrorCode } from '../../core/errors.ts';
import type { KeyScope } from '../../core/governance.ts';
import type { JsonValue } from '../../core/types.ts';

/** How a body is written: one JSON value, or one per line (JSON Lines), read and written as a stream. */
export type BodyForm = 'json' | 'json_lines';

/**
 * One route of the API: all there is to know about it. The server's routes, the OpenAPI document, the client and
 * the tests that every route has to pass are made of these.
 */
export interface RouteDefinition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Parameters are written `{name}`. */
  readonly path: `/v1/${string}`;
  /** What a key or token needs for it; null where any will do. */
  readonly scope: KeyScope | null;
  /** Heading it stands under in the documentation. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Default `json`. Of lines, `body` is the schema of each. */
  readonly bodyForm?: BodyForm;
  /** Largest body in bytes. Default: a request of one entry. */
  readonly bodyLimit?: number;
  /** Status codes of success and what each means. */
  readonly answers: Readonly<Record<number, string>>;
  /** Absent where there is nothing to say: 204. */
  readonly answer?: z.ZodType;
  /** Default `json`. Of lines, `answer` is the schema of each. */
  readonly answerForm?: BodyForm;
  /** Whether a success carries the entry's version as ETag. */
  readonly hasEtag?: boolean;
  /** Whether it takes `If-Match`. */
  readonly takesIfMatch?: boolean;
  /** Whether it takes `If-None-Match: *`. */
  readonly takesIfNoneMatch?: boolean;
  /** Set where another method than GET changes nothing. */
  readonly isRead?: boolean;
  /** Whether it takes `Idempotency-Key`. */
  readonly takesIdempotencyKey?: boolean;
  /** What it refuses beyond what every route does (`commonErrors`). */
  readonly errors: readonly ErrorCode[];
  readonly example?: {
    readonly params?: Readonly<Record<string, string>>;
    /** As in the URL, without the question mark. */
    readonly query?: string;
    readonly body?: JsonValue;
  };
}

/** Keeps the exact types of a definition's schemas. */
export function defineRoute<const Route extends RouteDefinition>(route: Route): Route {
  return route;
}

/** Whether a request may be repeated without a thought: it changes nothing. */
export function changesNothing(route: RouteDefinition): boolean {
  return route.method === 'GET' || route.isRead === true;
}

/** What any request to a route may be refused with, by what the route takes. */
export function commonErrors(route: RouteDefinition): ErrorCode[] {
  const takesBody = route.body !== undefined;
  const takesAnything = takesBody || route.query !== undefined || route.params !== undefined;
  return [
    ...(takesAnything ? (['invalid_input'] as const) : []),
    'unauthenticated',
    'forbidden',
    ...(takesBody ? (['request_timeout', 'payload_too_large', 'unsupported_media_type'] as const) : []),
    'rate_limited',
    'internal',
    'store_unavailable',
    'identity_unavailable',
  ];
}

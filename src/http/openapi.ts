import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { wireErrorSchema } from '../contract/error-body.ts';
import {
  ANY_ENTRY,
  IDEMPOTENCY_KEY_HEADER,
  IF_NONE_MATCH_HEADER,
  REQUEST_ID_HEADER,
  subjectHeadersSchema,
} from '../contract/request-headers.ts';
import { commonErrors, type RouteDefinition } from '../contract/routes/route.ts';
import { ROUTES } from '../contract/routes/routes.ts';
import { ERROR_CODES, type ErrorCode } from '../core/errors.ts';

type OpenApiDocument = ReturnType<typeof createDocument>;

const JSON_TYPE = 'application/json';
const LINES_TYPE = 'application/x-ndjson';

/** What each refusal means, whichever route it comes from. */
const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  invalid_input: 'The request says something that is not accepted; details name each field.',
  unauthenticated: 'Nobody showed a credential, or it is not valid.',
  forbidden: 'The credential or the policy does not allow it.',
  not_found: 'There is no such thing, or none that the asker may know of.',
  request_timeout: 'The body kept the server waiting for too long; nothing of it was used.',
  conflict: 'It contradicts what is stored, or the Idempotency-Key was used for another request.',
  precondition_failed: 'The entry has another version than If-Match asks for.',
  payload_too_large: 'The body is larger than this route takes.',
  unsupported_media_type: 'The body is of another type than this route takes.',
  rate_limited: 'Too many requests; Retry-After says when to try again.',
  internal: 'A fault of the server; its log has the cause under the request id.',
  embedding_failed: 'The embedding provider failed; nothing was stored.',
  identity_unavailable: 'Nobody can tell at the moment whether the credential is valid.',
  server_unreachable: 'Told by clients alone: the server did not answer.',
  store_unavailable: 'The database does not answer.',
  store_locked: 'Another process holds the data directory.',
  store_newer: 'The database is of a newer version of the server.',
  shutting_down: 'The server is about to stop; another one, or the same one a little later, answers.',
  invalid_config: 'The server is configured in a way that can not work.',
};

/** The OpenAPI 3.1 document of the API, made of its routes. */
export function openApiDocument(version: string): OpenApiDocument {
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Palimpsest',
        version,
        description:
          'Memory for AI agents: stored, ranked and explained. Every refusal has one shape: `error` with `code`, `message`, `details` and `request_id`. Times are ISO 8601 with an offset, or a date alone, which is midnight UTC. Unknown fields are refused.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      security: [{ bearer: [] }, { apiKey: [] }],
      tags: [...new Set(Object.values(ROUTES).map(({ tag }) => tag))].map((name) => ({ name })),
      paths: pathsOf(ROUTES),
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key (`pal_…`) or a JWT.' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key (`pal_…`).' },
        },
      },
    },
    {
      // What is answered is described as it is on the wire, not as code has it.
      override: ({ zodSchema, jsonSchema, io }) => {
        if (io !== 'output' || !(zodSchema instanceof z.ZodDate)) return;
        jsonSchema.type = 'string';
        jsonSchema.format = 'date-time';
      },
      allowEmptySchema: { unknown: true },
    },
  );
}

function pathsOf(routes: Readonly<Record<string, RouteDefinition>>): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const [name, route] of Object.entries(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(name, route) };
  }
  return paths;
}

function operationOf(name: string, route: RouteDefinition): ZodOpenApiOperationObject {
  const { body, bodyForm, example, scope } = route;
  const needs = scope === null ? 'Any credential will do.' : `Needs the scope \`${scope}\`.`;
  return {
    operationId: name,
    tags: [route.tag],
    summary: route.summary,
    description: route.description === undefined ? needs : `${route.description}\n\n${needs}`,
    requestParams: {
      ...(route.params === undefined ? {} : { path: route.params }),
      ...(route.query === undefined ? {} : { query: queryObject(route.query) }),
      header: headersOf(route),
    },
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              [bodyForm === 'json_lines' ? LINES_TYPE : JSON_TYPE]: {
                schema: body,
                ...(example?.body === undefined ? {} : { example: example.body }),
              },
            },
          },
        }),
    responses: { ...answersOf(route), ...refusalsOf(route) },
  };
}

/** The object that a query string's schema reads, before what is made of it. */
function queryObject(schema: z.core.$ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema;
  if (schema instanceof z.ZodPipe) return queryObject(schema.in);
  throw new Error('The schema of a query string is no object.');
}

const requestId = z
  .string()
  .optional()
  .meta({
    param: {
      id: 'RequestId',
      description: 'Your own id of the request, for the logs; the answer repeats it.',
    },
  });
const ifMatch = z
  .string()
  .optional()
  .meta({
    param: { id: 'IfMatch', description: 'ETag of the entry that the change is based on.', example: '"17"' },
  });
const ifNoneMatch = z
  .enum([ANY_ENTRY])
  .optional()
  .meta({
    param: {
      id: 'IfNoneMatch',
      description:
        'Refuses content that a live entry of the namespace holds, rather than refresh that entry.',
      example: ANY_ENTRY,
    },
  });
const idempotencyKey = z
  .string()
  .optional()
  .meta({
    maxLength: 255,
    param: {
      id: 'IdempotencyKey',
      description:
        'Makes repeating the request harmless for a day: the same key and request give the same answer, with `Idempotency-Replayed: true`.',
    },
  });

function headersOf(route: RouteDefinition): z.ZodObject {
  return subjectHeadersSchema.extend({
    [REQUEST_ID_HEADER]: requestId,
    ...(route.takesIfMatch === true ? { 'if-match': ifMatch } : {}),
    ...(route.takesIfNoneMatch === true ? { [IF_NONE_MATCH_HEADER]: ifNoneMatch } : {}),
    ...(route.takesIdempotencyKey === true ? { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey } : {}),
  });
}

function header(id: string, schema: z.ZodType, description: string): z.ZodType {
  return schema.optional().meta({ header: { id, description } });
}

const SHARED_HEADERS = {
  [REQUEST_ID_HEADER]: header('RequestId', z.string(), 'Under which the log has this request.'),
  'ratelimit-limit': header('RateLimit', z.int(), 'Requests in a window, where they are limited.'),
  'ratelimit-remaining': header('RateLimitRemaining', z.int(), 'Requests left in this window.'),
  'ratelimit-reset': header('RateLimitReset', z.int(), 'Seconds until the next window.'),
};
const ETAG_HEADER = { etag: header('EntityTag', z.string(), 'Version of the entry, for If-Match.') };
const RETRY_HEADER = {
  'retry-after': header('RetryAfter', z.int(), 'Seconds after which the same request may succeed.'),
};

function answersOf(route: RouteDefinition): ZodOpenApiResponsesObject {
  const { answer, answerForm } = route;
  const answers = Object.entries(route.answers).map(([status, description]) => [
    status,
    {
      description,
      headers: z.object({ ...SHARED_HEADERS, ...(route.hasEtag === true ? ETAG_HEADER : {}) }),
      ...(answer === undefined
        ? {}
        : { content: { [answerForm === 'json_lines' ? LINES_TYPE : JSON_TYPE]: { schema: answer } } }),
    },
  ]);
  return Object.fromEntries(answers);
}

/** Statuses that may say when to try again: a request still running, too many of them, a service that is down. */
const RETRIABLE: ReadonlySet<number> = new Set([409, 429, 503]);

function refusalsOf(route: RouteDefinition): ZodOpenApiResponsesObject {
  const codes = [...new Set([...commonErrors(route), ...route.errors])];
  const byStatus = Map.groupBy(codes, (code) => ERROR_CODES[code].status);
  const refusals = [...byStatus].map(([status, sameStatus]) => [
    status,
    {
      description: sameStatus.map((code) => `\`${code}\`: ${ERROR_MEANINGS[code]}`).join('\n\n'),
      headers: z.object({ ...SHARED_HEADERS, ...(RETRIABLE.has(status) ? RETRY_HEADER : {}) }),
      content: { [JSON_TYPE]: { schema: wireErrorSchema } },
    },
  ]);
  return Object.fromEntries(refusals);
}

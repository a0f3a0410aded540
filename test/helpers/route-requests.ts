import type { InjectOptions } from 'fastify';
import type { RouteDefinition } from '../../src/contract/routes/route.ts';
import type { JsonValue } from '../../src/core/types.ts';

/** Ids of things that exist, by what a path or a body calls them. */
export interface KnownIds {
  readonly memoryId: string;
  readonly traceId: string;
  readonly keyId: string;
  readonly agentId: string;
  readonly taskId: string;
  readonly profile: string;
  readonly jobId: string;
}

/** Whose parameter a path has: a new kind has to be named here before its route can be tested. */
const PARAMETERS: readonly (readonly [start: string, name: keyof KnownIds])[] = [
  ['/v1/memories/{id}', 'memoryId'],
  ['/v1/traces/{id}', 'traceId'],
  ['/v1/keys/{id}', 'keyId'],
  ['/v1/agents/{id}', 'agentId'],
  ['/v1/tasks/{id}', 'taskId'],
  ['/v1/profiles/{name}', 'profile'],
  ['/v1/embeddings/jobs/{id}', 'jobId'],
];

/** Which kind of thing a route's path names; null where it names none. */
export function parameterOf({ path }: RouteDefinition): keyof KnownIds | null {
  if (!path.includes('{')) return null;
  const found = PARAMETERS.find(([start]) => path.startsWith(start));
  if (found === undefined) throw new Error(`Say in PARAMETERS what ${path} names.`);
  return found[1];
}

/**
 * The route's example as a request about things that exist. The examples are Ada's.
 *
 * @param userId - Whose namespaces the request names instead.
 */
export function exampleRequest(
  route: RouteDefinition,
  ids: KnownIds,
  userId = 'ada',
): InjectOptions & { url: string } {
  const { method, example = {} } = route;
  const parameter = parameterOf(route);
  const path =
    parameter === null ? route.path : route.path.replace(/\{\w+\}/, encodeURIComponent(ids[parameter]));
  const url = example.query === undefined ? path : `${path}?${example.query}`;
  if (example.body === undefined) {
    return route.bodyForm === 'json_lines'
      ? {
          method,
          url,
          headers: { 'content-type': 'application/x-ndjson' },
          payload: '{"content":"Imported."}\n',
        }
      : { method, url };
  }
  return {
    method,
    url,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(withIds(example.body, ids)).replaceAll(
      'vector.user.ada.',
      `vector.user.${userId}.`,
    ),
  };
}

/** Examples name entries and traces by made-up ids. */
function withIds(body: JsonValue, ids: KnownIds): JsonValue {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return {
    ...body,
    ...('memory_id' in body ? { memory_id: ids.memoryId } : {}),
    ...('trace_id' in body ? { trace_id: ids.traceId } : {}),
  };
}

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { versionOf } from '../contract/entity-tag.ts';
import { parseContract } from '../contract/parse-contract.ts';
import {
  ANY_ENTRY,
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENT_REPLAY_HEADER,
  IF_NONE_MATCH_HEADER,
  readSubjectHeaders,
  singleHeader,
} from '../contract/request-headers.ts';
import { changesNothing, type RouteDefinition } from '../contract/routes/route.ts';
import { toWire } from '../contract/wire-form.ts';
import { excerpt, invalidInput, type PalimpsestError } from '../core/errors.ts';
import type { JsonValue } from '../core/types.ts';
import type { GovernanceService } from '../service/governance-service.ts';
import { toJsonLines } from './json-lines-answer.ts';
import type { RouteCall, RouteHandler, RouteReply } from './route-handler.ts';
import { askerOf, requireScope } from './who-asks.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const LINES_TYPE = 'application/x-ndjson; charset=utf-8';

/** Makes a route of the server of its definition and what carries it out. */
export function registerRoute<Route extends RouteDefinition>(
  api: FastifyInstance,
  route: Route,
  handler: RouteHandler<Route>,
  governance: GovernanceService,
): void {
  api.route({
    method: route.method,
    url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    // A route of its own answers HEAD too, and would be one more to guard.
    exposeHeadRoute: false,
    ...(route.bodyLimit === undefined ? {} : { bodyLimit: route.bodyLimit }),
    preParsing: async (request) => requireScope(request, route, governance),
    handler: async (request, reply) => {
      const call = readCall(request, route);
      const key = idempotencyKeyOf(request, route);
      if (key === undefined) return sendReply(reply, route, await handler(call));
      const kept = await governance.withIdempotency(call.context, key, requestHash(request), async () =>
        keptReply(route, await handler(call)),
      );
      return sendKept(reply, kept);
    },
  });
}

/** Every part of a request, read by the route's schemas. */
function readCall<Route extends RouteDefinition>(request: FastifyRequest, route: Route): RouteCall<Route> {
  const call = {
    ...askerOf(request),
    params: route.params && parseContract(route.params, request.params),
    query: readQuery(request, route),
    body: readBody(request, route),
    ifVersion: readIfMatch(request, route),
    ifNew: readIfNoneMatch(request, route),
    request,
  };
  // The parts were read by the very schemas their types are made of.
  return call as unknown as RouteCall<Route>;
}

function readQuery(request: FastifyRequest, route: RouteDefinition): unknown {
  if (route.query !== undefined) return parseContract(route.query, request.query);
  const [unknown] = Object.keys(request.query ?? {});
  if (unknown === undefined) return undefined;
  throw invalidInput(`${unknown}: ${route.method} ${route.path} takes no query string.`, {
    path: unknown,
    got: unknown,
    allowed: [],
  });
}

function readBody(request: FastifyRequest, route: RouteDefinition): unknown {
  if (route.bodyForm === 'json_lines') return request.body ?? Readable.from([]);
  if (route.body !== undefined) return parseContract(route.body, request.body, { itemsOf: 'memories' });
  if (request.body === undefined || request.body === null) return undefined;
  // `{}` is what clients send that can't send nothing.
  if (typeof request.body === 'object' && Object.keys(request.body).length === 0) return undefined;
  throw invalidInput(`${route.method} ${route.path} takes no body.`, { path: 'body', allowed: 'no body' });
}

/** A precondition that is not looked at would be taken for one that held. */
function readIfMatch(request: FastifyRequest, route: RouteDefinition): number | undefined {
  const ifMatch = singleHeader(request.headers, 'if-match');
  if (route.takesIfMatch === true) return versionOf(ifMatch);
  if (ifMatch === undefined || changesNothing(route)) return undefined;
  throw noPrecondition(route, 'if-match', ifMatch, 'PATCH of an entry');
}

/** Whether only a new entry is asked for. What a new entry must not match is any, so no tag is of use. */
function readIfNoneMatch(request: FastifyRequest, route: RouteDefinition): boolean {
  const ifNoneMatch = singleHeader(request.headers, IF_NONE_MATCH_HEADER);
  // Caches send it with reads, and may be answered as if they had not.
  if (ifNoneMatch === undefined || changesNothing(route)) return false;
  if (route.takesIfNoneMatch !== true) {
    throw noPrecondition(route, IF_NONE_MATCH_HEADER, ifNoneMatch, 'POST of new entries');
  }
  if (ifNoneMatch.trim() === ANY_ENTRY) return true;
  throw invalidInput(`${IF_NONE_MATCH_HEADER}: ${excerpt(ifNoneMatch)} names an entry; allowed: *.`, {
    path: IF_NONE_MATCH_HEADER,
    got: excerpt(ifNoneMatch),
    allowed: ANY_ENTRY,
  });
}

function noPrecondition(
  route: RouteDefinition,
  header: string,
  got: string,
  allowed: string,
): PalimpsestError {
  return invalidInput(`${header}: ${route.method} ${route.path} takes no such precondition.`, {
    path: header,
    got: excerpt(got),
    allowed,
  });
}

function idempotencyKeyOf(request: FastifyRequest, route: RouteDefinition): string | undefined {
  const key = singleHeader(request.headers, IDEMPOTENCY_KEY_HEADER);
  if (key === undefined || route.takesIdempotencyKey === true) return key;
  if (changesNothing(route)) return undefined;
  throw invalidInput(`${IDEMPOTENCY_KEY_HEADER}: ${route.method} ${route.path} can't keep its answer.`, {
    path: IDEMPOTENCY_KEY_HEADER,
    hint: 'Leave the header out.',
  });
}

/** Everything that makes a request another one. */
function requestHash(request: FastifyRequest): string {
  const { method, url, body, headers } = request;
  const subject = readSubjectHeaders(headers);
  const preconditions = [headers['if-match'] ?? null, headers[IF_NONE_MATCH_HEADER] ?? null];
  const whole = JSON.stringify([method, url, preconditions, subject, body ?? null]);
  return createHash('sha256').update(whole, 'utf8').digest('hex');
}

interface ShownReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; empty where there is nothing to say. */
  readonly text: string;
}

function shownReply<Route extends RouteDefinition>(route: Route, reply: RouteReply<Route>): ShownReply {
  if ('lines' in reply) throw new Error('A stream can not be kept.');
  const { body, status, headers = {} } = reply;
  return {
    status: Number(status ?? Object.keys(route.answers)[0]),
    headers,
    text: route.answer === undefined ? '' : JSON.stringify(toWire(route.answer, body as never)),
  };
}

async function sendReply<Route extends RouteDefinition>(
  reply: FastifyReply,
  route: Route,
  answered: RouteReply<Route>,
): Promise<FastifyReply> {
  if (!('lines' in answered)) return sendShown(reply, shownReply(route, answered));
  const { answer } = route;
  if (answer === undefined) throw new Error('A route of lines has no schema for them.');
  const lines = await toJsonLines(answered.lines, (line) => toWire(answer, line as never));
  return reply.type(LINES_TYPE).send(lines);
}

function sendShown(reply: FastifyReply, { status, headers, text }: ShownReply): FastifyReply {
  reply.code(status).headers(headers);
  return text === '' ? reply.send() : reply.type(JSON_TYPE).send(text);
}

/** Kept as text: the database would give the fields of a JSON value back in another order. */
function keptReply<Route extends RouteDefinition>(
  route: Route,
  answered: RouteReply<Route>,
): { status: number; body: JsonValue } {
  const { status, headers, text } = shownReply(route, answered);
  return { status, body: { headers: { ...headers }, text } };
}

function sendKept(
  reply: FastifyReply,
  kept: { readonly status: number; readonly body: JsonValue; readonly isReplay: boolean },
): FastifyReply {
  const { headers, text } = kept.body as { headers: Record<string, string>; text: string };
  if (kept.isReplay) reply.header(IDEMPOTENT_REPLAY_HEADER, 'true');
  return sendShown(reply, { status: kept.status, headers, text });
}

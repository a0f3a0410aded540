import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { RouteDefinition } from '../contract/routes/route.ts';
import type { Routes } from '../contract/routes/routes.ts';
import type { InCode } from '../contract/wire-form.ts';
import type { Identity } from '../core/identity.ts';
import type { RequestContext } from '../service/request-context.ts';

/** What was sent, read by the route's own schemas. */
export interface RouteCall<Route extends RouteDefinition> {
  readonly context: RequestContext;
  readonly identity: Identity;
  readonly params: OutputOf<Route, 'params'>;
  readonly query: OutputOf<Route, 'query'>;
  /** Of a body of lines: its bytes. */
  readonly body: Route extends { readonly bodyForm: 'json_lines' }
    ? AsyncIterable<Uint8Array>
    : OutputOf<Route, 'body'>;
  /** What `If-Match` asks for; undefined where any version will do. */
  readonly ifVersion: number | undefined;
  /** Whether `If-None-Match: *` asks for a new entry. */
  readonly ifNew: boolean;
  readonly request: FastifyRequest;
}

type OutputOf<Route, Part extends string> = Route extends {
  readonly [Name in Part]: infer Schema extends z.ZodType;
}
  ? z.output<Schema>
  : undefined;

type AnswerOf<Route> = Route extends { readonly answer: infer Schema extends z.ZodType }
  ? InCode<Schema>
  : undefined;

/** What is answered, in the form code has it. */
export type RouteReply<Route extends RouteDefinition> =
  | {
      readonly body: AnswerOf<Route>;
      /** Default: the only one of the route's `answers`. */
      readonly status?: keyof Route['answers'];
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly lines: AsyncIterable<AnswerOf<Route>> };

export type RouteHandler<Route extends RouteDefinition> = (
  call: RouteCall<Route>,
) => Promise<RouteReply<Route>>;

/** One handler for each route: a missing one does not compile. */
export type RouteHandlers = { readonly [Name in keyof Routes]: RouteHandler<Routes[Name]> };

import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import { type FastifyBaseLogger, type FastifyInstance, fastify } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import {
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENT_REPLAY_HEADER,
  IF_NONE_MATCH_HEADER,
  REQUEST_ID_HEADER,
  subjectHeadersSchema,
} from '../contract/request-headers.ts';
import { ROUTES } from '../contract/routes/routes.ts';
import { NO_TELEMETRY, type Telemetry } from '../core/telemetry.ts';
import type { GovernanceService } from '../service/governance-service.ts';
import type { MemoryService } from '../service/memory-service.ts';
import type { ReembedService } from '../service/reembed-service.ts';
import { docsRoutes } from './docs-page.ts';
import { answerClientError, sendError, sendNotFound } from './error-response.ts';
import { createHandlers } from './handlers/handlers.ts';
import { healthRoutes } from './health-routes.ts';
import type { HttpApp, McpHandler } from './http-app.ts';
import { acceptJsonBodies, acceptJsonLines } from './json-body.ts';
import { mcpRoute } from './mcp-route.ts';
import { measureRequests } from './measure-requests.ts';
import { type MetricsRouteOptions, metricsRoute } from './metrics-route.ts';
import { type OperatorAccess, operatorRoutes } from './operator-routes.ts';
import { limitRates, type RateLimitOptions } from './rate-limit.ts';
import { registerRoute } from './register-route.ts';
import { RequestLog } from './request-log.ts';
import type { RouteHandlers } from './route-handler.ts';
import { refuseSlowBodies, type SlowBodyLimits } from './slow-bodies.ts';
import { establishWhoAsks, type Identify } from './who-asks.ts';

export interface HttpAppOptions {
  readonly service: MemoryService;
  readonly governance: GovernanceService;
  readonly reembed: ReembedService;
  /** Who asks. Called for each request of the API before anything else of it is read. */
  readonly identify: Identify;
  /** Gets one line per request and every error that is the server's. */
  readonly logger: FastifyBaseLogger;
  /** Version of the product, for the documentation. */
  readonly version: string;
  /** Default: nobody's requests are counted. */
  readonly rateLimit?: RateLimitOptions | undefined;
  /** Origins whose pages may use the API, such as `https://console.example.com`. Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Addresses of proxies whose `X-Forwarded-…` headers are believed. Default: none. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** How slowly a body may arrive. */
  readonly slowBodies?: SlowBodyLimits | undefined;
  /** Told of every request. Default: nothing is measured. */
  readonly telemetry?: Telemetry | undefined;
  /** Serves `/metrics`. Default: there is nothing there. */
  readonly metrics?: MetricsRouteOptions | undefined;
  /** Lets the operator of the machine make backups. Default: there is nothing there. */
  readonly operator?: OperatorAccess | undefined;
  /** Serves MCP under `/mcp`. Default: there is nothing there. */
  readonly mcp?: McpHandler | undefined;
}

/** A body of one entry at its limits, every character escaped, fits; a batch has a limit of its own. */
const BODY_LIMIT = 1024 * 1024;
/** A caller's own id of a request, as far as a log can take it. */
const REQUEST_ID = /^[\w.:+/=@-]{1,128}$/;

/** Builds the server without listening: `inject()` tests it in process, `serveHttp` opens its port. */
export function buildHttpApp(options: HttpAppOptions): HttpApp {
  const { service, logger, version, metrics, corsOrigins = [], trustedProxies = [] } = options;
  const app = fastify({
    loggerInstance: logger,
    logController: new RequestLog(),
    genReqId: (request) => {
      const given = request.headers[REQUEST_ID_HEADER];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : uuidv7();
    },
    bodyLimit: BODY_LIMIT,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    // A request that races the shutdown is answered, and its connection then closed.
    return503OnClosing: false,
    frameworkErrors: sendError,
    clientErrorHandler: answerClientError,
    // Ids are looked up, so that a long wrong one is simply unknown.
    routerOptions: { maxParamLength: 1024 },
  });
  app.decorate('isDraining', false);
  measureRequests(app, options.telemetry ?? NO_TELEMETRY);
  refuseSlowBodies(app, options.slowBodies);
  acceptJsonBodies(app);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(sendNotFound);
  app.addHook('onRequest', async (request, reply) => {
    reply.header(REQUEST_ID_HEADER, request.id);
  });
  app.register(helmet, { contentSecurityPolicy: API_CONTENT_POLICY });
  if (corsOrigins.length > 0) app.register(cors, corsOptions(corsOrigins));
  app.register(healthRoutes, { service });
  if (metrics !== undefined) app.register(metricsRoute, metrics);
  app.register(docsRoutes, { version });
  if (options.operator !== undefined) app.register(operatorRoutes, options.operator);
  app.register(async (api) => apiRoutes(api, options));
  return app;
}

/** Answers of the API are data: nothing in them is to be run, and no page may frame them. */
const API_CONTENT_POLICY = {
  useDefaults: false,
  directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
};

function corsOptions(origins: readonly string[]) {
  return {
    origin: [...origins],
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'authorization',
      'content-type',
      'if-match',
      IF_NONE_MATCH_HEADER,
      'x-api-key',
      IDEMPOTENCY_KEY_HEADER,
      REQUEST_ID_HEADER,
      ...Object.keys(subjectHeadersSchema.shape),
    ],
    exposedHeaders: [
      'etag',
      'location',
      'retry-after',
      'ratelimit-limit',
      'ratelimit-remaining',
      'ratelimit-reset',
      IDEMPOTENT_REPLAY_HEADER,
      REQUEST_ID_HEADER,
    ],
    maxAge: 600,
  };
}

/** Everything under `/v1`: nothing of it is reached before it is known who asks. */
async function apiRoutes(api: FastifyInstance, options: HttpAppOptions): Promise<void> {
  const { rateLimit, identify, mcp, corsOrigins = [] } = options;
  const handlers = createHandlers(options);
  establishWhoAsks(api, rateLimit === undefined ? identify : await limitRates(api, rateLimit, identify));
  api.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });
  api.register(async (json) => {
    registerRoutes(json, handlers, options.governance, 'json');
    if (mcp !== undefined) mcpRoute(json, mcp, corsOrigins);
  });
  api.register(async (lines) => {
    acceptJsonLines(lines);
    registerRoutes(lines, handlers, options.governance, 'json_lines');
  });
}

/** The routes whose bodies are of one form. */
function registerRoutes(
  api: FastifyInstance,
  handlers: RouteHandlers,
  governance: GovernanceService,
  form: 'json' | 'json_lines',
): void {
  for (const name of Object.keys(ROUTES) as (keyof typeof ROUTES)[]) {
    const isOfForm = ('bodyForm' in ROUTES[name] ? ROUTES[name].bodyForm : 'json') === form;
    if (isOfForm) registerNamed(api, name, handlers, governance);
  }
}

function registerNamed<Name extends keyof typeof ROUTES>(
  api: FastifyInstance,
  name: Name,
  handlers: RouteHandlers,
  governance: GovernanceService,
): void {
  registerRoute(api, ROUTES[name], handlers[name], governance);
}

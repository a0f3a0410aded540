import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { type OpenedMemoryService, openMemory } from './app.ts';
import type { RunningServer } from './cli/cli-parts.ts';
import type { Config } from './config/config.ts';
import { DEFAULT_RATE_LIMIT, type RateLimitConfig } from './config/http-config.ts';
import { packageVersion } from './config/package-version.ts';
import { PalimpsestError } from './core/errors.ts';
import type { KeyStore } from './core/governance.ts';
import { buildHttpApp } from './http/app.ts';
import type { HttpApp } from './http/http-app.ts';
import { createLogger } from './http/logger.ts';
import { requireLocalName, requireLoopback } from './http/loopback.ts';
import type { MetricsRouteOptions } from './http/metrics-route.ts';
import { type HttpServer, serveHttp } from './http/serve-http.ts';
import type { Identify } from './http/who-asks.ts';
import { createOperatorCheck, type SharedSecret, secretCheck } from './identity/shared-secret.ts';
import { createMcpHandler } from './mcp/http-handler.ts';
import { LOCAL_IDENTITY } from './service/local-operator.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';

/** Puts a server together. Apart from app.ts, so that the library loads no web server. */

/**
 * Serves the configured store over HTTP.
 *
 * @throws PalimpsestError `invalid_config` for an address that others can reach where nobody is asked who they are
 */
export async function serve(config: Config): Promise<RunningServer> {
  if (config.identity.mode === 'local') requireLoopback(config.http.host);
  const logger = createLogger(config.logLevel);
  const spans = await startSpans(config, logger);
  const metrics = config.http.metrics ? createMetrics() : undefined;
  // From the last thing that was opened to the first.
  const closing: (() => Promise<void>)[] = [async () => metrics?.close(), spans.stop];
  const close = async () => {
    for (const end of closing) await end();
  };
  try {
    const memory = await openMemory(config, metrics);
    closing.unshift(() => memory.close());
    const operator = createOperatorCheck();
    const app = await buildApp(config, memory, { metrics, logger, operator });
    app.addHook('preClose', async () => memory.setUrl(null));
    closing.unshift(() => app.close());
    const server = await listen(app, config);
    closing.unshift(() => server.close());
    memory.setUrl(server.url, { operatorToken: operator.secret });
    return { url: server.url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startSpans(
  { telemetry }: Config,
  logger: FastifyBaseLogger,
): Promise<{ stop(): Promise<void> }> {
  if (!telemetry.sendsSpans) return { async stop() {} };
  const { startSpanExport } = await import('./telemetry/start-span-export.ts');
  return startSpanExport({
    version: packageVersion(),
    onProblem: (problem) => logger.warn({ problem }, 'OpenTelemetry'),
  });
}

async function buildApp(
  config: Config,
  memory: OpenedMemoryService,
  parts: {
    readonly metrics: Metrics | undefined;
    readonly logger: FastifyBaseLogger;
    readonly operator: SharedSecret;
  },
): Promise<HttpApp> {
  const { metrics, logger, operator } = parts;
  return buildHttpApp({
    service: memory.service,
    governance: memory.governance,
    reembed: memory.reembed,
    logger,
    version: packageVersion(),
    identify: await identifyBy(config, memory.keys, logger),
    rateLimit: rateLimitOf(config),
    corsOrigins: config.http.corsOrigins,
    trustedProxies: config.http.trustedProxies,
    telemetry: memory.telemetry,
    // A database server is copied by its own tools.
    operator: 'dataDir' in config.store ? { check: operator.check, copy: () => memory.copy() } : undefined,
    metrics: metrics && { read: () => metrics.read(), admit: metricsReaders(config) },
    mcp: createMcpHandler({
      service: memory.service,
      governance: memory.governance,
      counter: memory.tokenCounter,
      version: packageVersion(),
      onError: (error) => logger.warn({ err: error }, 'MCP'),
    }),
  });
}

function listen(app: HttpApp, { http }: Config): Promise<HttpServer> {
  return serveHttp(app, { host: http.host, port: http.port, delayMs: http.stopDelaySeconds * 1000 });
}

/**
 * Who may read the metrics, which are those of all tenants together: whoever shows the token, where one is set. Else
 * anybody of this machine where nobody is asked who they are, and nobody where everybody is.
 */
function metricsReaders({ http, identity }: Config): MetricsRouteOptions['admit'] {
  const { metricsToken } = http;
  if (metricsToken !== undefined) {
    const check = secretCheck(metricsToken, {
      message: 'Metrics are for whoever shows their token.',
      hint: 'Send the token of PALIMPSEST_METRICS_TOKEN as authorization: Bearer …',
    });
    return ({ headers }) => check(headers.authorization);
  }
  if (identity.mode === 'local') return ({ headers }: FastifyRequest) => requireLocalName(headers.host);
  return () => {
    throw new PalimpsestError(
      'forbidden',
      'Metrics tell of all tenants together, so that no key opens them.',
      {
        details: [
          { path: 'authorization', hint: 'Set PALIMPSEST_METRICS_TOKEN, and send it as a bearer token.' },
        ],
      },
    );
  };
}

/** Without identities everybody is the operator of this machine, who is not held up. */
function rateLimitOf({ http, identity }: Config): RateLimitConfig | undefined {
  const fitting = identity.mode === 'local' ? null : DEFAULT_RATE_LIMIT;
  return (http.rateLimit === undefined ? fitting : http.rateLimit) ?? undefined;
}

/** How the server learns who asks. */
async function identifyBy(
  { identity: { mode, tokens } }: Config,
  keys: KeyStore,
  logger: FastifyBaseLogger,
): Promise<Identify> {
  if (mode === 'local') {
    return (request) => {
      requireLocalName(request.headers.host);
      return LOCAL_IDENTITY;
    };
  }
  const [{ createAuthenticator }, { createKeyCheck }, { createTokenCheck }] = await Promise.all([
    import('./identity/authenticator.ts'),
    import('./identity/key-check.ts'),
    import('./identity/token-check.ts'),
  ]);
  const authenticator = createAuthenticator({
    key: createKeyCheck({
      keys,
      clock: Date.now,
      onBackgroundError: (error) => logger.warn({ err: error }, 'the use of a key could not be noted'),
    }),
    token: tokens === null ? undefined : createTokenCheck(tokens, Date.now),
  });
  return (request) => authenticator.authenticate(request.headers);
}

import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { OpenedMemoryService } from './app.ts';
import type { Config } from './config/config.ts';
import { packageVersion } from './config/package-version.ts';
import { PalimpsestError } from './core/errors.ts';
import { createLogger } from './http/logger.ts';
import type { HttpServer } from './http/serve-http.ts';
import { runStdioMcp } from './mcp/run-stdio.ts';
import type { StdioStreams } from './mcp/serve-stdio.ts';
import type { ReachedBackend } from './mcp/shared-backend.ts';
import { LOCAL_IDENTITY, LOCAL_OPERATOR } from './service/local-operator.ts';
import type { RequestSubject } from './service/request-context.ts';
import type { DataDirectoryHolder } from './store/data-directory-lock.ts';
import { createTokenCounter, DEFAULT_TOKENIZER } from './tokenizer/token-counter.ts';

/**
 * Puts the parts of an MCP server on standard input and output together. Apart from app.ts, because a client waits
 * for the handshake: what only an open store needs is loaded after it.
 */

/** For whom the tools of an MCP server act, and where it speaks. */
export interface McpOptions extends StdioStreams {
  readonly subject: RequestSubject;
}

/**
 * Serves MCP on a pair of streams, on the configured store: opened by this process, or where another one has it
 * open, through that one. Resolves when the client has left.
 */
export async function serveMcp(config: Config, options: McpOptions): Promise<void> {
  const logger = createLogger(config.logLevel);
  for (const warning of config.warnings) logger.warn(warning);
  // Told at the start, since the store is opened by the first call or by another process: not told again there.
  const toldConfig: Config = { ...config, warnings: [] };
  const { subject, ...streams } = options;
  await runStdioMcp({
    ...streams,
    reach: () => reachMemory(toldConfig, subject, logger),
    counter: () =>
      createTokenCounter(DEFAULT_TOKENIZER, {
        onFallback: (error) => logger.warn({ err: error }, 'answers are counted by their bytes'),
      }),
    version: packageVersion(),
    onError: (error) => logger.warn({ err: error }, 'MCP'),
  });
}

/** How long a process may take to say where it serves the data it has just taken, or to let go of it when it ends. */
const HOLDER_CHANGES_MS = 20_000;
const HOLDER_LOOK_MS = 100;

async function reachMemory(
  config: Config,
  subject: RequestSubject,
  logger: FastifyBaseLogger,
): Promise<ReachedBackend> {
  const since = Date.now();
  for (;;) {
    try {
      return await openForTools(config, subject, logger);
    } catch (error) {
      if (!PalimpsestError.isInstance(error) || error.code !== 'store_locked') throw error;
      const holder = await holderOf(config);
      if (holder?.url !== undefined) {
        const { createRemoteBackend } = await import('./mcp/remote-backend.ts');
        const server = { url: holder.url, token: holder.token ?? config.apiKey };
        return { backend: createRemoteBackend(server, subject), close: async () => {} };
      }
      // Only its owner writes the record; while it does, there is none to read.
      const waitsSince = holder === undefined ? since : Date.parse(holder.endingSince ?? holder.startedAt);
      if (Date.now() - waitsSince > HOLDER_CHANGES_MS) throw error;
      await pause(HOLDER_LOOK_MS);
    }
  }
}

async function holderOf({ store }: Config): Promise<DataDirectoryHolder | undefined> {
  if (!('dataDir' in store)) return undefined;
  const { readHolder } = await import('./store/data-directory-lock.ts');
  return readHolder(store.dataDir);
}

async function openForTools(
  config: Config,
  subject: RequestSubject,
  logger: FastifyBaseLogger,
): Promise<ReachedBackend> {
  const [{ openMemory }, { createLocalBackend }] = await Promise.all([
    import('./app.ts'),
    import('./mcp/local-backend.ts'),
  ]);
  const memory = await openMemory(config);
  // A database server serves everybody itself.
  const peers = 'dataDir' in config.store ? serveOwnProcesses(memory, logger) : undefined;
  return {
    backend: createLocalBackend(memory, { access: LOCAL_OPERATOR, subject }),
    close: async () => {
      await (await peers)?.close();
      await memory.close();
    },
  };
}

/** A client that leaves does not wait for its server's other clients. */
const PEER_DRAIN_MS = 1000;

/**
 * Serves the data to this user's other processes: every client of MCP starts a server of its own, and only one of
 * them can hold the data directory. Whoever asks shows a secret that stands beside the lock, in a file of this
 * user alone, so that the port opens nothing to others on the machine.
 */
async function serveOwnProcesses(
  memory: OpenedMemoryService,
  logger: FastifyBaseLogger,
): Promise<HttpServer | undefined> {
  try {
    const [{ buildHttpApp }, { requireLocalName }, { serveHttp }, { createSecretCheck }] = await Promise.all([
      import('./http/app.ts'),
      import('./http/loopback.ts'),
      import('./http/serve-http.ts'),
      import('./identity/shared-secret.ts'),
    ]);
    const { secret, check } = createSecretCheck();
    const app = buildHttpApp({
      service: memory.service,
      governance: memory.governance,
      reembed: memory.reembed,
      logger,
      version: packageVersion(),
      identify: ({ headers }) => {
        requireLocalName(headers.host);
        check(headers.authorization);
        return LOCAL_IDENTITY;
      },
      operator: { check, copy: () => memory.copy() },
    });
    app.addHook('preClose', async () => memory.setUrl(null));
    const server = await serveHttp(app, { host: '127.0.0.1', port: 0, drainMs: PEER_DRAIN_MS });
    memory.setUrl(server.url, { token: secret, operatorToken: secret });
    return server;
  } catch (error) {
    logger.warn({ err: error }, 'other processes of this user can not use this data while this one does');
    return undefined;
  }
}

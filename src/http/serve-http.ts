import type { HttpApp } from './http-app.ts';

export interface ServeOptions {
  /** An address of this machine. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Milliseconds that running requests get to finish after `close`, default 10,000. */
  readonly drainMs?: number | undefined;
}

export interface HttpServer {
  /** Where it listens, such as `http://127.0.0.1:7077`. */
  readonly url: string;
  /** Takes no new connections, lets running requests finish, then ends. */
  close(): Promise<void>;
}

const DEFAULT_DRAIN_MS = 10_000;

/** Opens the port of a built server. */
export async function serveHttp(app: HttpApp, options: ServeOptions): Promise<HttpServer> {
  const { host, port, drainMs = DEFAULT_DRAIN_MS } = options;
  let isDraining = false;
  app.addHook('onSend', async (_request, reply) => {
    // A request that began before the shutdown would otherwise keep its connection, and the server, alive.
    if (isDraining) reply.header('connection', 'close');
  });
  const url = await app.listen({ host, port });
  return {
    url,
    async close() {
      isDraining = true;
      const timer = setTimeout(() => app.server.closeAllConnections(), drainMs);
      try {
        await app.close();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

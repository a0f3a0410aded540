import { setTimeout as pause } from 'node:timers/promises';
import { PalimpsestError } from '../core/errors.ts';
import type { HttpApp } from './http-app.ts';

export interface ServeOptions {
  /** An address of this machine. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /**
   * Milliseconds after `close` that the server goes on listening while `/readyz` says 503, so that whoever sends it
   * requests can notice. Default 0.
   */
  readonly delayMs?: number | undefined;
  /** Milliseconds that running requests get to finish after `close`, default 10,000. */
  readonly drainMs?: number | undefined;
}

export interface HttpServer {
  /** Where it listens, such as `http://127.0.0.1:7077`. */
  readonly url: string;
  /** Says 503 at `/readyz`, then takes no new connections, lets running requests finish, then ends. */
  close(): Promise<void>;
}

const DEFAULT_DRAIN_MS = 10_000;

/** Opens the port of a built server. */
export async function serveHttp(app: HttpApp, options: ServeOptions): Promise<HttpServer> {
  const { drainMs = DEFAULT_DRAIN_MS, delayMs = 0 } = options;
  app.addHook('onSend', async (_request, reply) => {
    // A request that began before the shutdown would otherwise keep its connection, and the server, alive.
    if (app.isDraining) reply.header('connection', 'close');
  });
  const url = await listen(app, options);
  return {
    url,
    async close() {
      app.isDraining = true;
      if (delayMs > 0) await pause(delayMs);
      const timer = setTimeout(() => app.server.closeAllConnections(), drainMs);
      try {
        await app.close();
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** What the system's refusals to listen mean, and what to do. */
const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there. Stop it, or choose another port',
  EACCES: 'this user may not. Choose a port above 1023',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this name is not known',
};

async function listen(app: HttpApp, { host, port }: ServeOptions): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = Object.hasOwn(LISTEN_FAILURES, code) ? LISTEN_FAILURES[code] : undefined;
    if (reason === undefined) throw error;
    throw new PalimpsestError(
      'invalid_config',
      `The server can't listen on ${host}, port ${port}: ${reason}.`,
      {
        details: [{ path: 'port', got: port, hint: reason }],
        cause: error,
      },
    );
  }
}

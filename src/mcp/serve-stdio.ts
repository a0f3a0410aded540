import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { PalimpsestError } from '../core/errors.ts';

export interface StdioStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Resolves when the process is told to stop. */
  readonly stop: Promise<void>;
}

/** Milliseconds that what was asked gets to be answered once the process is told to stop. */
const STOP_GRACE_MS = 1000;

/**
 * Serves MCP over a pair of streams until the client closes its end or the process is told to stop.
 *
 * @returns Resolves when the input has ended and everything asked before is answered, or when nobody reads the
 *   answers any more. A client that dies closes its end too, so that no server outlives its client.
 */
export async function serveStdio(server: Server, { stdin, stdout, stop }: StdioStreams): Promise<void> {
  const transport = new PendingTransport(stdin, stdout);
  const ended = new Promise<void>((resolve) => {
    stdin.once('end', () => void transport.idle().then(resolve));
    stdin.once('close', () => void transport.idle().then(resolve));
    stdin.once('error', () => resolve());
    stdout.once('error', () => resolve());
    stdout.once('close', () => resolve());
    // A line longer than the transport's limit closes it.
    transport.onclose = resolve;
    void stop.then(async () => {
      const timer = setTimeout(resolve, STOP_GRACE_MS);
      await transport.idle();
      clearTimeout(timer);
      resolve();
    });
  });
  await server.connect(transport);
  await ended;
  await server.close();
}

const UNREADABLE = 'A line on standard input is no message of JSON-RPC, and was passed over.';

/** No JSON, or JSON of another form. */
function isUnreadable(error: Error): boolean {
  return error instanceof SyntaxError || error.name === 'ZodError';
}

/**
 * The SDK's transport, which does not know whether it still owes an answer, and repeats a line it can't read in its
 * error, which is logged.
 */
class PendingTransport extends StdioServerTransport {
  readonly #pending = new Set<string | number>();
  readonly #waiting: (() => void)[] = [];

  override async start(): Promise<void> {
    const { onmessage: receive, onerror: report } = this;
    this.onerror = (error) =>
      report?.(isUnreadable(error) ? new PalimpsestError('invalid_input', UNREADABLE) : error);
    this.onmessage = (message: JSONRPCMessage) => {
      if (isJSONRPCRequest(message)) this.#pending.add(message.id);
      if ('method' in message && message.method === 'notifications/cancelled') this.#cancelled(message);
      receive?.(message);
    };
    await super.start();
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if ('id' in message && !('method' in message) && message.id !== undefined) this.#settle(message.id);
  }

  /** Resolves when nothing is owed. */
  async idle(): Promise<void> {
    if (this.#pending.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** What a client has taken back is not answered. */
  #cancelled(message: JSONRPCMessage): void {
    const { params } = message as { params?: { requestId?: string | number } };
    if (params?.requestId !== undefined) this.#settle(params.requestId);
  }

  #settle(id: string | number): void {
    this.#pending.delete(id);
    if (this.#pending.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

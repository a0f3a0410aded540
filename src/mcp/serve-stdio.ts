import type { Readable, Writable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

/**
 * Serves MCP over a pair of streams until the client closes its end.
 *
 * @returns Resolves when the input has ended and everything asked before is answered, or when nobody reads the
 *   answers any more. A client that dies closes its end too, so that no server outlives its client.
 */
export async function serveStdio(server: Server, stdin: Readable, stdout: Writable): Promise<void> {
  const transport = new PendingTransport(stdin, stdout);
  const ended = new Promise<void>((resolve) => {
    stdin.once('end', () => void transport.idle().then(resolve));
    stdin.once('close', () => void transport.idle().then(resolve));
    stdin.once('error', () => resolve());
    stdout.once('error', () => resolve());
    stdout.once('close', () => resolve());
  });
  await server.connect(transport);
  await ended;
  await server.close();
}

/** The SDK's transport, which does not know whether it still owes an answer. */
class PendingTransport extends StdioServerTransport {
  readonly #pending = new Set<string | number>();
  #onIdle: (() => void) | undefined;

  override async start(): Promise<void> {
    const receive = this.onmessage;
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
      this.#onIdle = resolve;
    });
  }

  /** What a client has taken back is not answered. */
  #cancelled(message: JSONRPCMessage): void {
    const { params } = message as { params?: { requestId?: string | number } };
    if (params?.requestId !== undefined) this.#settle(params.requestId);
  }

  #settle(id: string | number): void {
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#onIdle?.();
  }
}

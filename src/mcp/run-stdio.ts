import type { TokenCounter } from '../core/ports.ts';
import { type StdioStreams, serveStdio } from './serve-stdio.ts';
import { createMcpServer } from './server.ts';
import { createSharedBackend, type ReachedBackend } from './shared-backend.ts';

export interface StdioParts extends StdioStreams {
  /** Opens the data, or finds who has it open. */
  readonly reach: () => Promise<ReachedBackend>;
  readonly counter: () => Promise<TokenCounter>;
  readonly version: string;
  readonly onError: (error: unknown) => void;
}

/**
 * An MCP server on standard input and output until its client leaves or the process is told to stop. It answers
 * before the data is open: a client waits for the handshake, and a refused data directory is told to the model
 * that asks, where a process that ended would leave a line in a log.
 */
export async function runStdioMcp(parts: StdioParts): Promise<void> {
  const { stdin, stdout, reach, stop, ...rest } = parts;
  const shared = createSharedBackend(reach);
  const server = createMcpServer({ ...rest, backend: shared.backend });
  server.oninitialized = () => shared.warm();
  try {
    await serveStdio(server, { stdin, stdout, stop });
  } finally {
    await shared.close();
  }
}

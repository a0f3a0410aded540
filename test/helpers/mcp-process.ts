import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type TestMcpClient, testClient } from './test-mcp.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

export type Environment = Readonly<Record<string, string>>;

/** How a client starts the server: the command and its arguments. */
export function mcpCommand(args: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, MAIN, 'mcp', ...args];
}

/** A real `palimpsest mcp` with the official client at the other end of its pipes. */
export interface McpProcess extends TestMcpClient {
  readonly pid: number;
  /** Lines on standard output that are no message. */
  readonly strayLines: readonly Error[];
  /** As a client leaves: it closes the pipe. */
  close(): Promise<void>;
}

export async function startMcp(args: readonly string[], env: Environment = {}): Promise<McpProcess> {
  const [command, ...rest] = mcpCommand(args);
  const transport = new StdioClientTransport({
    command,
    args: rest,
    env: { ...getDefaultEnvironment(), ...env },
    stderr: 'ignore',
  });
  const strayLines: Error[] = [];
  const client = new Client({ name: 'test', version: '1' });
  client.onerror = (error) => void strayLines.push(error);
  await client.connect(transport);
  return {
    ...(await testClient(client)),
    pid: transport.pid ?? 0,
    strayLines,
    close: () => client.close(),
  };
}

/** A real `palimpsest mcp` whose every line is seen. */
export interface RawMcpProcess {
  readonly child: ChildProcess;
  /** Everything on standard output. */
  readonly lines: readonly string[];
  stderr(): string;
  send(message: object): void;
  /** Sends a line as it is. */
  write(line: string): void;
  /** The answer to a request, once it is there. */
  answer(id: number): Promise<Record<string, unknown>>;
  /** Shakes hands, as a client does. */
  initialize(): Promise<Record<string, unknown>>;
  /** Resolves with the exit code, null after a kill. */
  readonly ended: Promise<number | null>;
}

/** @param cwd - Where a client starts it. Default: here. */
export function startRawMcp(args: readonly string[], env: Environment = {}, cwd?: string): RawMcpProcess {
  const [command, ...rest] = mcpCommand(args);
  const child = spawn(command, rest, { env: { ...process.env, ...env }, cwd, stdio: 'pipe' });
  const lines: string[] = [];
  const answers = new Map<unknown, Record<string, unknown>>();
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (!line.startsWith('{')) return;
    const message = JSON.parse(line) as Record<string, unknown>;
    answers.set(message.id, message);
    for (const look of waiting) look();
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  // A process that has ended can't be written to; the test sees that it has ended.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const write = (line: string) => void child.stdin.write(`${line}\n`);
  const send = (message: object) => write(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const answer = (id: number) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const look = () => {
        const message = answers.get(id);
        if (message === undefined) return;
        waiting.delete(look);
        resolve(message);
      };
      waiting.add(look);
      look();
      void ended.then((code) => reject(new Error(`The server ended with ${code}: ${errors}`)));
    });
  return {
    child,
    lines,
    stderr: () => errors,
    send,
    write,
    answer,
    async initialize() {
      send({
        id: 0,
        method: 'initialize',
        params: {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'test', version: '1' },
        },
      });
      const answered = await answer(0);
      send({ method: 'notifications/initialized' });
      return answered;
    },
    ended,
  };
}

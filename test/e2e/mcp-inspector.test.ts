import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MEMORY_TOOLS } from '../../src/contract/tools/tools.ts';
import { type ExistingStores, existingStores } from '../helpers/existing-stores.ts';
import { mcpCommand } from '../helpers/mcp-process.ts';
import { type ServerProcess, startServer } from '../helpers/server-process.ts';

/** The command line of the MCP inspector, which is a client that nobody here has written. */

// The package's `bin` is for those who have the graphical inspector too, and starts this.
const INSPECTOR = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/inspector-cli/build/index.js',
);

let stores: ExistingStores;
let server: ServerProcess;

beforeAll(async () => {
  stores = await existingStores();
  server = await startServer(['--data-dir', stores.next()]);
});
afterAll(async () => {
  await server.end('SIGTERM');
  stores.dispose();
});

const TARGETS: Readonly<Record<string, () => readonly string[]>> = {
  stdio: () => mcpCommand(['--data-dir', stores.next()]),
  'streamable HTTP': () => [`${server.url}/mcp`],
};

describe.each(Object.keys(TARGETS))('the inspector over %s', (name) => {
  let target: readonly string[];
  beforeAll(() => {
    target = (TARGETS[name] ?? expect.unreachable())();
  });

  /** What the inspector prints, which is the result as JSON and nothing else. */
  async function inspect(method: string, ...options: string[]): Promise<Record<string, unknown>> {
    const [command = '', ...args] = target;
    // Behind `--`, so that the server's options are not taken for the inspector's.
    const argv = [INSPECTOR, command, '--method', method, ...options, '--', ...args];
    // It looks for its package.json from the working directory.
    const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: dirname(INSPECTOR) });
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  const call = async (tool: string, args: Readonly<Record<string, unknown>>) => {
    const pairs = Object.entries(args).map(([field, value]) => `${field}=${JSON.stringify(value)}`);
    const { structuredContent, isError } = await inspect(
      'tools/call',
      '--tool-name',
      tool,
      '--tool-arg',
      ...pairs,
    );
    expect(isError).not.toBe(true);
    return structuredContent as Record<string, unknown>;
  };

  test('lists the tools', async () => {
    const { tools } = await inspect('tools/list');
    expect((tools as { name: string }[]).map(({ name: tool }) => tool)).toEqual(
      Object.values(MEMORY_TOOLS).map(({ name: tool }) => tool),
    );
  });

  test('calls tools, reads resources and gets the prompt', async () => {
    const namespace = 'vector.user.local.notes';
    const { memory } = await call('memory_write', {
      content: 'We use PostgreSQL.',
      namespace,
      importance: 0.8,
      tags: ['database'],
    });
    const { id } = memory as { id: string };
    const { hits } = await call('memory_search', { query: 'PostgreSQL', top_k: 3 });
    expect(hits).toMatchObject([{ entry: { id, importance: 0.8, tags: ['database'] } }]);

    const { resources } = await inspect('resources/list');
    expect(resources).toMatchObject([{ uri: `palimpsest://namespace/${namespace}` }]);
    const { resourceTemplates } = await inspect('resources/templates/list');
    expect(resourceTemplates).toHaveLength(2);
    const { contents } = await inspect('resources/read', '--uri', `palimpsest://memory/${id}`);
    expect(contents).toMatchObject([{ text: expect.stringContaining('We use PostgreSQL.') }]);

    const { prompts } = await inspect('prompts/list');
    expect(prompts).toMatchObject([{ name: 'memory_guide' }]);
    const { messages } = await inspect(
      'prompts/get',
      '--prompt-name',
      'memory_guide',
      '--prompt-args',
      `namespace=${namespace}`,
    );
    expect(messages).toMatchObject([{ content: { text: expect.stringContaining(namespace) } }]);
    // Seven processes of the inspector, each with a server of its own over stdio.
  }, 400_000);
});

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const palimpsest = fileURLToPath(
  new URL('./dist/cli/main.js', import.meta.resolve('palimpsest/package.json')),
);
const dataDir = await mkdtemp(join(tmpdir(), 'palimpsest-example-'));

// What a client such as an editor does with { "command": "palimpsest", "args": ["mcp"] }.
const client = new Client({ name: 'example', version: '1.0.0' });
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: [palimpsest, 'mcp', '--data-dir', dataDir] }),
);
try {
  const { tools } = await client.listTools();
  console.log(`Tools: ${tools.map(({ name }) => name).join(', ')}`);
  assert(tools.every(({ name }) => name.startsWith('memory_')));

  const written = await client.callTool({
    name: 'memory_write',
    arguments: { namespace: 'vector.user.local.preferences', content: 'I prefer tea over coffee.' },
  });
  assert(!written.isError);

  const found = await client.callTool({ name: 'memory_search', arguments: { query: 'tea or coffee?' } });
  const { hits } = found.structuredContent as { hits: { entry: { content: string } }[] };
  console.log(`Found: ${hits[0]?.entry.content}`);
  assert.deepEqual(
    hits.map(({ entry }) => entry.content),
    ['I prefer tea over coffee.'],
  );
} finally {
  await client.close();
  await rm(dataDir, { recursive: true });
}

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ExistingStores, existingStores, holderOf } from '../helpers/existing-stores.ts';
import { type Environment, type McpProcess, startMcp } from '../helpers/mcp-process.ts';
import { type ServerProcess, startServer } from '../helpers/server-process.ts';
import { type TestMcpClient, testClient, textOf } from '../helpers/test-mcp.ts';

/** MCP as its clients meet it: real processes, the official client, and what REST says of the same store. */

let stores: ExistingStores;
const toClose: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  stores = await existingStores();
});
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});
afterAll(() => stores.dispose());

async function mcp(
  dataDir: string,
  args: readonly string[] = [],
  env: Environment = {},
): Promise<McpProcess> {
  const started = await startMcp(['--data-dir', dataDir, ...args], env);
  toClose.push(() => started.close());
  return started;
}

async function server(dataDir: string): Promise<ServerProcess> {
  const started = await startServer(['--data-dir', dataDir]);
  toClose.push(() => started.end('SIGKILL'));
  return started;
}

/** Speaks to whoever serves the data, as another program of this user would. */
interface Rest {
  get(path: string): Promise<Record<string, unknown>>;
  send(method: string, path: string, body: unknown): Promise<Record<string, unknown>>;
}

function restOf({ url, token }: { url: string; token?: string | undefined }): Rest {
  const send: Rest['send'] = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  return { send, get: (path) => send('GET', path, undefined) };
}

/** Opens the data by its first call, and gives where it is served then. */
async function restOfHolding(client: TestMcpClient, dataDir: string): Promise<Rest> {
  await client.answer('memory_list');
  await expect.poll(() => holderOf(dataDir)?.url, { timeout: 200_000 }).toMatch(/^http/);
  const { url = '', token } = holderOf(dataDir) ?? {};
  return restOf({ url, token });
}

interface Way {
  readonly client: TestMcpClient;
  readonly rest: Rest;
}

const WAYS: Readonly<Record<string, (dataDir: string) => Promise<Way>>> = {
  'stdio, holding the data': async (dataDir) => {
    const client = await mcp(dataDir);
    return { client, rest: await restOfHolding(client, dataDir) };
  },
  'stdio, while a server holds the data': async (dataDir) => {
    const { url } = await server(dataDir);
    return { client: await mcp(dataDir), rest: restOf({ url }) };
  },
  'streamable HTTP': async (dataDir) => {
    const { url } = await server(dataDir);
    const client = new Client({ name: 'test', version: '1' });
    toClose.push(() => client.close());
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url)));
    return { client: await testClient(client), rest: restOf({ url }) };
  },
};

/** Calls tools, and holds arguments and answers against the published schemas. */
function checkedTools({ tools, call }: TestMcpClient) {
  const ajv = new Ajv({ strict: false });
  addFormats.default(ajv);
  const used = new Map(tools.map(({ name }) => [name, new Set<string>()]));
  const schemas = new Map(
    tools.map(({ name, inputSchema, outputSchema }) => [
      name,
      { input: ajv.compile(inputSchema), output: ajv.compile(outputSchema ?? false) },
    ]),
  );
  const matches = (validate: ValidateFunction | undefined, value: unknown, what: string) => {
    expect(validate?.(value), `${what}: ${ajv.errorsText(validate?.errors)}`).toBe(true);
  };
  return {
    /** Arguments that were sent, by tool. */
    used,
    async call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
      const schema = schemas.get(name);
      matches(schema?.input, args, `arguments of ${name}`);
      for (const field of Object.keys(args)) used.get(name)?.add(field);
      const result: CallToolResult = await call(name, args);
      expect(result.isError, textOf(result)).not.toBe(true);
      matches(schema?.output, result.structuredContent, `answer of ${name}`);
      expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
      return result.structuredContent ?? {};
    },
  };
}

interface Hit {
  readonly entry: { readonly id: string };
  readonly similarity: number;
  readonly score: number;
}

const SPACE = 'vector.user.local.e2e';

describe.each(Object.keys(WAYS))('%s:', (name) => {
  const open = (dataDir: string) => (WAYS[name] ?? expect.unreachable())(dataDir);

  test('G6: every tool is called with every argument of its published schema, and answers as published', async () => {
    const { client, rest } = await open(stores.next());
    const { used, call } = checkedTools(client);
    const idOf = ({ memory }: Record<string, unknown>) => (memory as { id: string }).id;
    const full = {
      type: 'fact',
      metadata: { project: 'atlas', 'a.b': [1, null] },
      tags: ['red', 'blue'],
      source: { kind: 'chat', ref: 'c-1' },
      importance: 0,
      observed_at: '2026-05-02T09:30:00Z',
      expires_at: '2999-01-01T00:00:00Z',
    };
    const first = idOf(
      await call('memory_write', { ...full, content: 'We chose PostgreSQL.', namespace: SPACE }),
    );
    const long = `We chose a database. ${'It took long. '.repeat(40)}`;
    for (let index = 0; index < 5; index += 1) {
      await call('memory_write', { content: `${index} ${long}`, namespace: SPACE, tags: ['red'] });
    }

    const search = {
      query: 'Which database did we choose?',
      namespaces: [`${SPACE}`],
      filter: { tags: ['red'] },
    };
    const lines = { profile: 'boosted', top_k: 6, min_score: 0, relative_cutoff: 0 };
    const page = await call('memory_search', { ...search, ...lines, token_budget: 500 });
    expect(page.next_cursor).toEqual(expect.any(String));
    await call('memory_search', { ...search, ...lines, token_budget: 500, cursor: page.next_cursor });

    await call('memory_feedback', { memory_id: first, trace_id: page.trace_id, signal: 'useful' });
    await call('memory_update', { id: first, ...full, content: 'We chose PostgreSQL 17.', importance: 1 });
    const { successor } = await call('memory_supersede', {
      id: first,
      draft: { content: 'We chose PostgreSQL 18.', namespace: SPACE },
    });
    const other = idOf(await call('memory_write', { content: 'Chosen: PostgreSQL 18.', namespace: SPACE }));
    await call('memory_supersede', { id: other, successor_id: (successor as { id: string }).id });

    const listed = {
      namespaces: [SPACE],
      filter: { status: 'unconfirmed' },
      lifecycle: 'live',
      text: 'database',
      limit: 3,
      token_budget: 1000,
    };
    const list = await call('memory_list', listed);
    await call('memory_list', { ...listed, cursor: list.next_cursor });
    await call('memory_delete', { id: (successor as { id: string }).id });
    for (const { name: tool, inputSchema } of client.tools) {
      expect([...(used.get(tool) ?? [])].sort(), tool).toEqual(
        Object.keys(inputSchema.properties ?? {}).sort(),
      );
    }

    // Whoever asks the audit learns that a tool did it, and on which entry.
    const { records: kept } = await rest.get(`/v1/audit?memory_id=${first}`);
    const records = kept as { action: string; operation: string; detail: Record<string, unknown> }[];
    expect(records.map(({ action, operation }) => [action, operation]).reverse()).toEqual([
      ['write', 'create'],
      ['feedback', 'useful'],
      ['write', 'update'],
      ['status', null],
    ]);
    expect(records.filter(({ detail }) => detail.tool_call !== true)).toEqual([]);
  });

  test('G6: finds what REST finds: the same entries, order, similarity, score and model', async () => {
    const { client, rest } = await open(stores.next());
    for (const content of [
      'We picked a database: the database is PostgreSQL.',
      'We picked a database in May.',
      'Lunch is at noon.',
      'A database, twice: database.',
    ]) {
      await client.answer('memory_write', { content, namespace: SPACE });
    }
    for (const profile of ['boosted', 'weighted']) {
      const request = {
        query: 'which database did we pick',
        profile,
        min_score: 0,
        relative_cutoff: 0,
        top_k: 10,
      };
      const search = () => rest.send('POST', '/v1/memories/search', request);
      const before = await search();
      const found = await client.answer('memory_search', request);
      const after = await search();
      const seen = ({ hits }: Record<string, unknown>) =>
        (hits as Hit[]).map(({ entry, similarity }) => [entry.id, similarity]);
      expect(seen(found).length).toBeGreaterThan(1);
      expect(seen(found)).toEqual(seen(before));
      expect(seen(found)).toEqual(seen(after));
      // Entries age between the requests, and a score only falls with age.
      const scores = ({ hits }: Record<string, unknown>) => (hits as Hit[]).map(({ score }) => score);
      scores(found).forEach((score, index) => {
        expect(score).toBeLessThanOrEqual(scores(before)[index] ?? Number.NaN);
        expect(score).toBeGreaterThanOrEqual(scores(after)[index] ?? Number.NaN);
      });
      const model = async ({ trace_id: id }: Record<string, unknown>) =>
        ((await rest.get(`/v1/traces/${id}`)).trace as Record<string, unknown>).embedding_model_id;
      expect(await model(found)).toEqual(expect.any(String));
      expect(await model(found)).toBe(await model(before));
    }
  });

  test('resources and the prompt', async () => {
    const { client } = await open(stores.next());
    const { memory } = await client.answer('memory_write', { content: 'Tea.', namespace: SPACE });
    const { resources } = await client.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([`palimpsest://namespace/${SPACE}`]);
    const read = async (uri: string) => {
      const [content] = (await client.client.readResource({ uri })).contents;
      return JSON.parse(content !== undefined && 'text' in content ? content.text : '');
    };
    expect((await read(`palimpsest://namespace/${SPACE}`)).memories).toMatchObject([{ content: 'Tea.' }]);
    expect(await read(`palimpsest://memory/${(memory as { id: string }).id}`)).toMatchObject({
      content: 'Tea.',
    });
    expect((await client.client.listResourceTemplates()).resourceTemplates).toHaveLength(2);
    const { prompts } = await client.client.listPrompts();
    const { messages } = await client.client.getPrompt({ name: prompts[0]?.name ?? '' });
    expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }]);
  });
});

describe('an agent’s policy holds for its tools', () => {
  test.each(['held by this process', 'held by a server'])('on data %s', async (held) => {
    const dataDir = stores.next();
    const served = held === 'held by a server' ? restOf(await server(dataDir)) : undefined;
    const agent = await mcp(dataDir, ['--agent', 'helper']);
    const rest = served ?? (await restOfHolding(agent, dataDir));
    const policy = (fields: object) =>
      rest.send('PUT', '/v1/agents/helper/policy', { read_namespaces: ['team.*'], ...fields });
    const write = { content: 'x', namespace: 'team.notes' };

    await policy({});
    expect(await agent.refusal('memory_write', write)).toMatchObject({ code: 'forbidden' });
    await policy({ allow_tool_write: true, allowed_write_namespaces: ['team.notes'] });
    const { memory } = await agent.answer('memory_write', write);
    const { id } = memory as { id: string };
    expect(await agent.refusal('memory_write', { ...write, namespace: 'team.plans' })).toMatchObject({
      code: 'forbidden',
    });
    expect(await agent.refusal('memory_delete', { id })).toMatchObject({ code: 'forbidden' });
    await policy({ allow_tool_delete: true, allowed_write_namespaces: ['team.notes'] });
    expect(await agent.refusal('memory_update', { id, importance: 1 })).toMatchObject({ code: 'forbidden' });
    expect(await agent.answer('memory_delete', { id })).toMatchObject({ memory: { lifecycle: 'deleted' } });

    const { records: kept } = await rest.get('/v1/audit?action=write&action=delete&action=warning');
    const records = kept as { action: string; detail: Record<string, unknown> }[];
    const ofTools = records.filter(({ detail }) => detail.tool_call === true);
    expect(ofTools.map(({ action }) => action).reverse()).toEqual([
      'warning',
      'write',
      'warning',
      'warning',
      'warning',
      'delete',
    ]);
    expect(ofTools.filter(({ detail }) => detail.agent_id !== 'helper')).toEqual([]);
  });
});

import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_OPERATOR } from '../../src/service/local-operator.ts';
import { createTokenCounter } from '../../src/tokenizer/token-counter.ts';
import { openTestMcp, type TestMcp, type TestMcpClient, textOf } from '../helpers/test-mcp.ts';

/** Every tool as the official client calls it over HTTP, against what it has published. */

let mcp: TestMcp;
let local: TestMcpClient;

beforeAll(async () => {
  mcp = await openTestMcp();
  local = await mcp.connect();
});
afterAll(() => mcp.close());

const post = async (path: string, body: unknown) => {
  const response = await fetch(`${mcp.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, never>;
};
const get = async (path: string) =>
  (await (await fetch(`${mcp.url}${path}`)).json()) as Record<string, never>;

const OPERATOR = { access: LOCAL_OPERATOR };

interface Memory {
  readonly id: string;
  readonly namespace: string;
  readonly content: string;
}
type Hits = { entry: Memory; similarity: number; score: number; relevance: number }[];

const write = async (content: string, namespace: string, more: object = {}, client = local) => {
  const { memory } = await client.answer('memory_write', { content, namespace, ...more });
  return memory as Memory;
};

let spaces = 0;
/** A namespace of the test's own. */
const newSpace = () => {
  spaces += 1;
  return `vector.user.local.t${spaces}`;
};

describe('what is published', () => {
  test('G7: the names of the tools are the product’s own', () => {
    expect(local.tools.map(({ name }) => name)).toEqual([
      'memory_search',
      'memory_write',
      'memory_update',
      'memory_supersede',
      'memory_delete',
      'memory_feedback',
      'memory_list',
    ]);
  });

  test('hints say who only reads and who takes away', () => {
    const hints = local.tools.map(({ name, annotations }) => [
      name,
      annotations?.readOnlyHint,
      annotations?.destructiveHint,
      annotations?.idempotentHint,
      annotations?.openWorldHint,
    ]);
    expect(hints).toEqual([
      ['memory_search', true, false, true, false],
      ['memory_write', false, false, true, false],
      ['memory_update', false, true, true, false],
      ['memory_supersede', false, false, false, false],
      ['memory_delete', false, true, true, false],
      ['memory_feedback', false, false, true, false],
      ['memory_list', true, false, true, false],
    ]);
  });

  test('schemas are plain objects that every model’s API takes: no alternatives on top, no references', () => {
    for (const { name, inputSchema, outputSchema, description } of local.tools) {
      for (const schema of [inputSchema, outputSchema]) {
        expect(schema?.type, name).toBe('object');
        expect(schema).toMatchObject({ additionalProperties: false });
        expect(Object.keys(schema ?? {})).not.toEqual(expect.arrayContaining(['anyOf']));
        expect(Object.keys(schema ?? {})).not.toEqual(expect.arrayContaining(['oneOf']));
        expect(JSON.stringify(schema)).not.toContain('$ref');
      }
      expect(description?.length, name).toBeGreaterThan(80);
    }
  });
});

describe('what is published is what is accepted:', () => {
  const id = '01900000-0000-7000-8000-000000000001';
  const ajv = new Ajv({ strict: false });
  addFormats.default(ajv);

  test.each<[string, string, Record<string, unknown>, boolean]>([
    ['memory_search', 'nothing at all', {}, true],
    ['memory_search', 'a filter', { query: 'q', filter: { type: ['fact'], tags: { any: ['a'] } } }, true],
    [
      'memory_search',
      'every number',
      { top_k: 200, min_score: 0, relative_cutoff: 1, token_budget: 500 },
      true,
    ],
    ['memory_search', 'top_k 0', { top_k: 0 }, false],
    ['memory_search', 'top_k 201', { top_k: 201 }, false],
    ['memory_search', 'half a hit', { top_k: 1.5 }, false],
    ['memory_search', 'a negative floor', { min_score: -0.1 }, false],
    ['memory_search', 'a cutoff above 1', { relative_cutoff: 1.1 }, false],
    ['memory_search', 'too small a budget', { token_budget: 499 }, false],
    ['memory_search', 'weights', { weights: { similarity: 1 } }, false],
    ['memory_search', 'a number as a query', { query: 7 }, false],
    ['memory_search', 'no namespace at all', { namespaces: [] }, false],
    ['memory_search', 'an unknown field of the filter', { filter: { colour: 'red' } }, false],
    ['memory_write', 'content alone', { content: 'x' }, true],
    [
      'memory_write',
      'every field',
      {
        content: 'x',
        namespace: 'a.b',
        type: 'fact',
        tags: ['t'],
        metadata: { a: 1 },
        importance: 0,
        source: { kind: 'chat', ref: 'c' },
        observed_at: '2026-05-02T09:30:00Z',
        expires_at: null,
      },
      true,
    ],
    ['memory_write', 'no content', {}, false],
    ['memory_write', 'empty content', { content: '' }, false],
    ['memory_write', 'importance above 1', { content: 'x', importance: 1.01 }, false],
    ['memory_write', 'an owner', { content: 'x', owner_id: 'bob' }, false],
    ['memory_write', 'metadata that is a list', { content: 'x', metadata: [] }, false],
    ['memory_write', 'a time without a meaning', { content: 'x', observed_at: 'yesterday' }, false],
    ['memory_update', 'a change', { id, importance: 1 }, true],
    ['memory_update', 'no change', { id }, false],
    ['memory_update', 'no id', { importance: 1 }, false],
    ['memory_update', 'a namespace', { id, namespace: 'a.b' }, false],
    ['memory_supersede', 'a draft', { id, draft: { content: 'x' } }, true],
    ['memory_supersede', 'an entry', { id, successor_id: id }, true],
    ['memory_supersede', 'both', { id, successor_id: id, draft: { content: 'x' } }, false],
    ['memory_supersede', 'neither', { id }, false],
    ['memory_delete', 'an id', { id }, true],
    ['memory_delete', 'no id', {}, false],
    ['memory_feedback', 'a signal', { memory_id: id, trace_id: id, signal: 'useful' }, true],
    ['memory_feedback', 'another signal', { memory_id: id, trace_id: id, signal: 'great' }, false],
    ['memory_list', 'nothing at all', {}, true],
    ['memory_list', 'a page of everything deleted', { lifecycle: 'deleted', limit: 500, text: 'a' }, true],
    ['memory_list', 'another life', { lifecycle: 'undead' }, false],
    ['memory_list', 'limit 0', { limit: 0 }, false],
    ['memory_list', 'limit 501', { limit: 501 }, false],
    ['memory_list', 'a limit as text', { limit: '5' }, false],
  ])('%s with %s', async (name, _, args, isAccepted) => {
    const tool = local.tools.find((known) => known.name === name);
    expect(ajv.validate(tool?.inputSchema ?? false, args), 'by the published schema').toBe(isAccepted);
    const result = await local.call(name, args);
    // What the schema allows may still meet a memory that is not there, or no place to write to.
    const code = result.isError === true ? (JSON.parse(textOf(result)).error.code as string) : 'ok';
    const isPlaceMissing = textOf(result).includes('no policy says where to write');
    expect(code !== 'invalid_input' || isPlaceMissing, `by the tool: ${textOf(result).slice(0, 200)}`).toBe(
      isAccepted,
    );
  });
});

test('every tool answers by its published schema, in text and structure alike', async () => {
  const space = newSpace();
  const results: Record<string, Record<string, unknown>> = {};
  const call = async (name: string, args: Record<string, unknown>) => {
    // The client itself refuses a structure that its published schema does not allow.
    const result = await local.call(name, args);
    expect(result.isError, textOf(result)).toBeUndefined();
    expect(JSON.parse(textOf(result))).toEqual(result.structuredContent);
    results[name] = result.structuredContent ?? {};
    return results[name] as Record<string, never>;
  };
  const { memory } = await call('memory_write', {
    content: 'Ada prefers tea over coffee.',
    namespace: space,
    type: 'preference',
    tags: ['drinks'],
    metadata: { userName: 1, user_name: 2 },
    importance: 0.8,
  });
  const { id } = memory as unknown as Memory;
  const found = await call('memory_search', { query: 'tea or coffee for Ada', namespaces: [space] });
  expect(found.hits).toMatchObject([
    { entry: { id, content: 'Ada prefers tea over coffee.', metadata: { userName: 1, user_name: 2 } } },
  ]);
  expect(
    await call('memory_feedback', { memory_id: id, trace_id: found.trace_id, signal: 'useful' }),
  ).toMatchObject({
    recorded: true,
    memory: { id },
  });
  expect(await call('memory_update', { id, importance: 1, expires_at: null })).toMatchObject({
    memory: { id, importance: 1 },
  });
  const replaced = await call('memory_supersede', {
    id,
    draft: { content: 'Ada prefers water.', namespace: space },
  });
  expect(replaced).toMatchObject({
    superseded: { id, status: 'superseded', lifecycle: 'superseded' },
    successor: { namespace: space, lifecycle: 'live' },
  });
  const { id: newer } = replaced.successor as unknown as Memory;
  expect(await call('memory_list', { namespaces: [space] })).toMatchObject({
    memories: [{ id: newer, content: 'Ada prefers water.' }],
    left_out: [],
    next_cursor: null,
  });
  expect(await call('memory_delete', { id: newer })).toMatchObject({
    memory: { id: newer, lifecycle: 'deleted' },
  });
  expect(await call('memory_list', { namespaces: [space] })).toMatchObject({ memories: [] });
  expect(Object.keys(results).sort()).toEqual(local.tools.map(({ name }) => name).sort());
});

test('a search finds what the API finds, with the same numbers; a list too', async () => {
  const space = newSpace();
  const contents = [
    'The database is PostgreSQL.',
    'We picked a database in May.',
    'Lunch is at noon.',
    'A database, twice: database.',
  ];
  for (const content of contents) await write(content, space);
  const request = {
    query: 'which database did we pick',
    namespaces: [space],
    min_score: 0,
    relative_cutoff: 0,
    top_k: 10,
  };
  const { hits } = (await local.answer('memory_search', request)) as { hits: Hits };
  const rest = await post('/v1/memories/search', request);
  const seen = (all: Hits) =>
    all.map(({ entry, similarity, score, relevance }) => [
      entry.id,
      similarity,
      score.toFixed(6),
      relevance.toFixed(6),
    ]);
  expect(hits.length).toBeGreaterThan(1);
  expect(seen(hits)).toEqual(seen(rest.hits as unknown as Hits));
  const { memories } = (await local.answer('memory_list', { namespaces: [space] })) as { memories: Memory[] };
  const { entries } = await get(`/v1/memories?namespace=${space}`);
  expect(memories.map(({ id }) => id)).toEqual((entries as unknown as Memory[]).map(({ id }) => id));
});

describe('no answer is larger than its budget:', () => {
  const space = 'vector.user.local.many';
  beforeAll(async () => {
    for (let from = 0; from < 5000; from += 500) {
      await mcp.opened.service.rememberMany(
        OPERATOR,
        Array.from({ length: 500 }, (_, index) => ({
          namespace: space,
          content: `note ${from + index}: ${'and so on '.repeat((from + index) % 30)}`,
        })),
      );
    }
  }, 120_000);

  test('G8: a list of 5,000 memories is one page of 4,000 tokens at most, with a cursor', async () => {
    const counter = await createTokenCounter();
    const result = await local.call('memory_list', { namespaces: [space], limit: 500 });
    expect(counter.count(textOf(result))).toBeLessThanOrEqual(4000);
    const { memories, next_cursor: next } = result.structuredContent as {
      memories: Memory[];
      next_cursor: string;
    };
    expect(memories.length).toBeGreaterThan(10);
    expect(next).toEqual(expect.any(String));
  });

  test('page by page a list shows each memory once', async () => {
    const counter = await createTokenCounter();
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const result = await local.call('memory_list', {
        namespaces: [space],
        limit: 500,
        token_budget: 50_000,
        ...(cursor === null ? {} : { cursor }),
      });
      expect(counter.count(textOf(result))).toBeLessThanOrEqual(50_000);
      const page = result.structuredContent as { memories: Memory[]; next_cursor: string | null };
      seen.push(...page.memories.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toHaveLength(5000);
    expect(new Set(seen).size).toBe(5000);
  }, 120_000);

  test('page by page a search shows the same hits as one large answer', async () => {
    const request = {
      query: 'note and so on',
      namespaces: [space],
      top_k: 60,
      min_score: 0,
      relative_cutoff: 0,
    };
    const whole = (await local.answer('memory_search', { ...request, token_budget: 100_000 })) as {
      hits: Hits;
      next_cursor: null;
    };
    expect(whole.next_cursor).toBeNull();
    expect(whole.hits).toHaveLength(60);
    const seen: string[] = [];
    let cursor: unknown;
    do {
      const page = await local.answer('memory_search', {
        ...request,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...(page.hits as Hits).map(({ entry }) => entry.id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(whole.hits.map(({ entry }) => entry.id));
    const other = await local.refusal('memory_search', { ...request, query: 'another', cursor: 'MS0w' });
    expect(other.code).toBe('invalid_input');
  });

  test('a memory larger than the budget is named, and can be read as a resource', async () => {
    const large = newSpace();
    const content = 'The whole report. '.repeat(2000);
    const { id } = await write(content, large);
    const small = await write('A short one.', large);
    const answer = await local.answer('memory_list', { namespaces: [large] });
    expect(answer).toMatchObject({
      memories: [{ id: small.id }],
      left_out: [{ id, reason: 'token_budget', tokens: expect.any(Number) }],
      next_cursor: null,
    });
    const { contents } = await local.client.readResource({ uri: `palimpsest://memory/${id}` });
    expect(JSON.parse(String(contents[0] && 'text' in contents[0] ? contents[0].text : '')).content).toBe(
      content,
    );
  });
});

describe('whom the tools act for', () => {
  test('another’s memory is as unknown as none, and the attempt is on the record', async () => {
    const ada = await mcp.connect({ 'x-test-user': 'ada', 'palimpsest-agent-id': 'writer' });
    const bob = await mcp.connect({ 'x-test-user': 'bob', 'palimpsest-agent-id': 'writer' });
    await mcp.opened.governance.putPolicy(
      OPERATOR,
      { kind: 'agent', id: 'writer' },
      {
        readNamespaces: ['vector.user.${user_id}.*'],
        writeNamespace: 'vector.user.${user_id}.notes',
        allowToolWrite: true,
        allowToolDelete: true,
      },
    );
    const { memory } = await ada.answer('memory_write', { content: 'Ada’s secret' });
    const { id, namespace } = memory as Memory;
    expect(namespace, 'where the policy says').toBe('vector.user.ada.notes');
    const unknown = '01900000-0000-7000-8000-000000000009';
    for (const wanted of [id, unknown]) {
      for (const [name, args] of [
        ['memory_update', { id: wanted, importance: 1 }],
        ['memory_supersede', { id: wanted, draft: { content: 'x' } }],
        ['memory_delete', { id: wanted }],
      ] as const) {
        const { code, message } = await bob.refusal(name, args);
        expect([code, message.replace(wanted, '…')], name).toEqual([
          'not_found',
          'There is no memory entry with id ….',
        ]);
      }
      await expect(bob.client.readResource({ uri: `palimpsest://memory/${wanted}` })).rejects.toMatchObject({
        code: -32002,
      });
    }
    expect(
      (await bob.answer('memory_search', { query: 'secret', namespaces: ['vector.user.ada.*'] })).hits,
    ).toEqual([]);
    expect((await bob.answer('memory_list', { namespaces: ['vector.user.ada.*'] })).memories).toEqual([]);

    await mcp.opened.flush();
    const { items } = await mcp.opened.governance.listAudit(OPERATOR, { limit: 100 });
    const warned = items.filter(
      ({ action, actorId, memoryId }) => action === 'warning' && actorId === 'bob' && memoryId === id,
    );
    expect(warned.map(({ operation }) => operation).sort()).toEqual(['forget', 'get', 'supersede', 'update']);
    expect(items.find(({ action, memoryId }) => action === 'write' && memoryId === id)).toMatchObject({
      actorId: 'ada',
      detail: { tool_call: true, agent_id: 'writer' },
    });
  });

  test('a policy decides what tools may write and delete, and where; without one a credential’s tools only read', async () => {
    const put = (policy: object) =>
      mcp.opened.governance.putPolicy(OPERATOR, { kind: 'agent', id: 'guarded' }, policy);
    const tools = await mcp.connect({ 'x-test-user': 'cleo', 'palimpsest-agent-id': 'guarded' });
    const nameless = await mcp.connect({ 'x-test-user': 'cleo' });
    const draft = { content: 'x', namespace: 'vector.user.cleo.notes' };
    expect((await nameless.refusal('memory_write', draft)).code).toBe('forbidden');
    expect((await tools.refusal('memory_write', draft)).code, 'without a policy').toBe('forbidden');
    await put({ readNamespaces: ['vector.user.${user_id}.*', 'team.*'], allowToolDelete: true });
    expect((await tools.refusal('memory_write', draft)).message).toContain(
      'allows to write memories by a tool',
    );
    await put({
      readNamespaces: ['vector.user.${user_id}.*', 'team.*'],
      allowToolWrite: true,
      allowedWriteNamespaces: ['team.notes'],
    });
    const { memory } = await tools.answer('memory_write', draft);
    expect((await tools.answer('memory_write', { ...draft, namespace: 'team.notes' })).operation).toBe(
      'create',
    );
    expect((await tools.refusal('memory_write', { ...draft, namespace: 'team.plans' })).code).toBe(
      'forbidden',
    );
    expect((await tools.refusal('memory_delete', { id: (memory as Memory).id })).code).toBe('forbidden');
    await put({ readNamespaces: ['vector.user.${user_id}.*'], allowToolDelete: true });
    expect((await tools.answer('memory_delete', { id: (memory as Memory).id })).memory).toMatchObject({
      lifecycle: 'deleted',
    });
  });

  test('on this machine alone, an agent without a policy may write; with one it holds', async () => {
    const agent = await mcp.connect({ 'palimpsest-agent-id': 'house' });
    expect((await agent.answer('memory_write', { content: 'x', namespace: newSpace() })).operation).toBe(
      'create',
    );
    await mcp.opened.governance.putPolicy(
      OPERATOR,
      { kind: 'agent', id: 'house' },
      { readNamespaces: ['*'] },
    );
    expect((await agent.refusal('memory_write', { content: 'y', namespace: newSpace() })).code).toBe(
      'forbidden',
    );
  });
});

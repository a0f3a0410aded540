import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTokenCounter } from '../../src/tokenizer/token-counter.ts';
import { HOSTILE_CONTENTS, STEERS } from '../helpers/hostile-contents.ts';
import { openTestMcp, type TestMcp, type TestMcpClient, textOf } from '../helpers/test-mcp.ts';

/** A client shows texts of answers to people, and gives them to models: no stored text may leave its place there. */

let mcp: TestMcp;
let local: TestMcpClient;

beforeAll(async () => {
  mcp = await openTestMcp();
  local = await mcp.connect();
});
afterAll(() => mcp.close());

interface Memory {
  readonly id: string;
  readonly content: string;
  readonly tags: string[];
  readonly metadata: Record<string, unknown>;
}

/** A text holds one JSON value on one line, and nothing that steers. */
function parsed(text: string): Record<string, unknown> {
  expect(text).not.toMatch(STEERS);
  expect(text).not.toContain('\n');
  return JSON.parse(text) as Record<string, unknown>;
}

describe.each(Object.entries(HOSTILE_CONTENTS))('%s', (name, content) => {
  const namespace = `team.hostile${Object.keys(HOSTILE_CONTENTS).indexOf(name)}`;
  const metadata = { [content.slice(0, 100)]: content.slice(0, 1000) };
  const whole = { content, metadata };
  let id: string;

  beforeAll(async () => {
    const { memory } = await local.answer('memory_write', { content, namespace, metadata });
    id = (memory as Memory).id;
  });

  test('comes back whole in answers and resources, and stays where it belongs', async () => {
    const args = { namespaces: [namespace], token_budget: 100_000 };
    const list = parsed(textOf(await local.call('memory_list', args)));
    expect(list.memories).toMatchObject([whole]);
    const browsed = parsed(textOf(await local.call('memory_search', args)));
    expect(browsed.hits).toMatchObject([{ entry: whole }]);
    const { contents } = await local.client.readResource({ uri: `palimpsest://memory/${id}` });
    const [resource] = contents;
    expect(parsed(resource !== undefined && 'text' in resource ? resource.text : '')).toMatchObject(whole);
  });

  test('does not make an answer larger than its budget', async () => {
    const counter = await createTokenCounter();
    const result = await local.call('memory_list', { namespaces: [namespace] });
    expect(counter.count(textOf(result))).toBeLessThanOrEqual(4000);
    const { memories, left_out: leftOut } = result.structuredContent as {
      memories: Memory[];
      left_out: { id: string }[];
    };
    expect([...memories, ...leftOut].map((shown) => shown.id)).toEqual([id]);
  });

  test('as an argument of any kind it is refused or answered in a text that is safe too', async () => {
    const words = content.slice(0, 300);
    for (const [tool, args] of [
      ['memory_search', { query: words, namespaces: [namespace] }],
      ['memory_search', { query: 'q', profile: words }],
      ['memory_search', { query: 'q', cursor: words }],
      ['memory_search', { query: 'q', [words]: 1 }],
      ['memory_list', { namespaces: [words] }],
      ['memory_list', { cursor: words }],
      ['memory_write', { content: 'x', namespace: words }],
      ['memory_update', { id: words, importance: 1 }],
      ['memory_delete', { id: words }],
    ] as const) {
      parsed(textOf(await local.call(tool, args)));
    }
    await expect(local.client.readResource({ uri: `palimpsest://memory/${words}` })).rejects.toThrow();
  });
});

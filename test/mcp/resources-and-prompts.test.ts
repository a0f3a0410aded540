import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestMcp, type TestMcp, type TestMcpClient } from '../helpers/test-mcp.ts';

let mcp: TestMcp;
let local: TestMcpClient;

beforeAll(async () => {
  mcp = await openTestMcp();
  local = await mcp.connect();
  for (const namespace of ['team.a', 'team.ü', 'vector.user.ada.notes']) {
    await local.answer('memory_write', { content: `A memory of ${namespace}`, namespace });
  }
});
afterAll(() => mcp.close());

const read = async (uri: string, client = local) => {
  const { contents } = await client.client.readResource({ uri });
  const [content] = contents;
  expect(content).toMatchObject({ uri, mimeType: 'application/json' });
  return JSON.parse(content !== undefined && 'text' in content ? content.text : '');
};

test('namespaces are resources; memories and namespaces have templates', async () => {
  const { resources } = await local.client.listResources();
  expect(resources.map(({ name, uri, description }) => [name, uri, description])).toEqual([
    ['team.a', 'palimpsest://namespace/team.a', '1 memory'],
    ['team.ü', 'palimpsest://namespace/team.%C3%BC', '1 memory'],
    ['vector.user.ada.notes', 'palimpsest://namespace/vector.user.ada.notes', '1 memory'],
  ]);
  const { resourceTemplates } = await local.client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'palimpsest://memory/{id}',
    'palimpsest://namespace/{path}{?cursor}',
  ]);
});

test('a user sees their own namespaces only', async () => {
  const ada = await mcp.connect({ 'x-test-user': 'ada' });
  const { resources } = await ada.client.listResources();
  expect(resources.map(({ name }) => name)).toEqual(['vector.user.ada.notes']);
});

test('a listed namespace is read by its address, a memory by its id, whatever has become of it', async () => {
  const { resources } = await local.client.listResources();
  for (const { uri, name } of resources) {
    expect((await read(uri)).memories).toMatchObject([{ content: `A memory of ${name}` }]);
  }
  const { memories } = await read('palimpsest://namespace/team.a');
  await local.answer('memory_delete', { id: memories[0].id });
  expect(await read(`palimpsest://memory/${memories[0].id}`)).toMatchObject({ lifecycle: 'deleted' });
});

test('a full namespace is read page by page', async () => {
  for (let index = 0; index < 60; index += 1) {
    await local.answer('memory_write', {
      content: `entry ${index} ${'word '.repeat(20)}`,
      namespace: 'team.full',
    });
  }
  const seen: string[] = [];
  let uri: string | null = 'palimpsest://namespace/team.full';
  while (uri !== null) {
    const page: { memories: { id: string }[]; next_cursor: string | null } = await read(uri);
    seen.push(...page.memories.map(({ id }) => id));
    uri = page.next_cursor === null ? null : `palimpsest://namespace/team.full?cursor=${page.next_cursor}`;
  }
  expect(new Set(seen).size).toBe(60);
  expect(seen).toHaveLength(60);
});

test.each([
  ['an unknown id', 'palimpsest://memory/01900000-0000-7000-8000-000000000001', -32002],
  ['what is no id', 'palimpsest://memory/x', -32002],
  ['another kind of resource', 'palimpsest://users/ada', -32002],
  ['another scheme', 'file:///etc/passwd', -32002],
  ['broken percent-encoding', 'palimpsest://namespace/%zz', -32002],
  ['half a wildcard', 'palimpsest://namespace/vec*', -32602],
  ['a cursor nobody gave', 'palimpsest://namespace/team.a?cursor=x', -32602],
])('refused: %s', async (_, uri, code) => {
  await expect(local.client.readResource({ uri })).rejects.toMatchObject({ code });
});

test('the guide teaches importance and namespaces, in general or for one place', async () => {
  const { prompts } = await local.client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(['memory_guide']);
  const textOf = async (args: Record<string, string>) => {
    const { messages } = await local.client.getPrompt({ name: 'memory_guide', arguments: args });
    const [message] = messages;
    return message?.content.type === 'text' ? message.content.text : '';
  };
  const general = await textOf({});
  for (const tool of local.tools) expect(general).toContain(tool.name);
  for (const word of [
    'importance',
    '0.9',
    '0.2',
    'vector.user.',
    'vector.global.',
    'superseded'.slice(0, 9),
  ]) {
    expect(general.toLowerCase()).toContain(word);
  }
  expect(await textOf({ namespace: 'vector.user.ada' })).toContain('vector.user.ada.preferences');
  await expect(
    local.client.getPrompt({ name: 'memory_guide', arguments: { namespace: 'a..b' } }),
  ).rejects.toMatchObject({ code: -32602 });
  await expect(local.client.getPrompt({ name: 'other' })).rejects.toMatchObject({ code: -32602 });
});

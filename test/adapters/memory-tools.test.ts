import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MemoryToolName, memoryTools } from '../../src/adapters/memory-tools.ts';
import { MEMORY_TOOLS } from '../../src/contract/tools/tools.ts';
import { BACKENDS, type TestBackend } from '../helpers/test-backends.ts';

const tools: readonly MemoryToolName[] = ['search', 'write', 'update', 'supersede', 'delete', 'feedback'];

test('they are the MCP server’s by name and description, the usual four where none are chosen', () => {
  expect(memoryTools().map(({ name }) => name)).toEqual([
    'memory_search',
    'memory_write',
    'memory_supersede',
    'memory_feedback',
  ]);
  expect(memoryTools({ tools }).map(({ name, description }) => [name, description])).toEqual(
    tools.map((tool) => [MEMORY_TOOLS[tool].name, MEMORY_TOOLS[tool].description]),
  );
  expect(memoryTools({ tools: ['write', 'write'] })).toHaveLength(1);
});

test('a place that the host names is asked nowhere in the schemas, nor spoken of', () => {
  const placed = memoryTools({ tools, namespace: 'vector.user.ada', namespaces: ['vector.user.ada.*'] });
  expect(JSON.stringify(placed.map(({ parameters }) => parameters))).not.toMatch(/"namespaces?":/);
  expect(JSON.stringify(placed.map(({ description }) => description))).not.toContain('Leave namespace out');
  expect(JSON.stringify(memoryTools().map(({ parameters }) => parameters))).toMatch(
    /"namespace":.*"namespaces":|"namespaces":.*"namespace":/,
  );
});

describe.each(BACKENDS)('the memory’s tools $name', ({ open }) => {
  let backend: TestBackend;

  beforeAll(async () => {
    backend = await open();
  });

  afterAll(() => backend.close());

  test('the life of a memory, by tools alone', async () => {
    const namespace = 'vector.user.ada.notes';
    const made = memoryTools({ tools, namespace });
    const call = (name: MemoryToolName, args: unknown) => {
      const tool = made.find((candidate) => candidate.name === `memory_${name}`) ?? expect.unreachable();
      return tool.call(backend.memory, args);
    };
    const { memory } = await call('write', { content: 'Ada prefers tea.', tags: ['drinks'] });
    const { id } = memory as { id: string };
    expect(memory).toMatchObject({ namespace, status: 'unconfirmed', importance: 0.5 });
    expect(
      await call('update', { id, importance: 0, metadata: { userName: 1, user_name: 2 } }),
    ).toMatchObject({
      memory: { id, importance: 0 },
    });
    const { hits, trace_id, exact } = await call('search', { query: 'Ada prefers tea' });
    expect(exact).toBe(true);
    expect(hits).toMatchObject([
      { entry: { id, metadata: { userName: 1, user_name: 2 }, tags: ['drinks'] } },
    ]);
    const signal = { memory_id: id, trace_id, signal: 'useful' };
    expect(await call('feedback', signal)).toMatchObject({ recorded: true });
    expect(await call('feedback', signal)).toMatchObject({ recorded: false });
    const { successor } = await call('supersede', { id, draft: { content: 'Ada prefers coffee.' } });
    expect(successor).toMatchObject({ namespace });
    const successorId = (successor as { id: string }).id;
    expect(await call('delete', { id: successorId })).toMatchObject({ memory: { id: successorId } });
    expect(await call('search', { query: 'Ada prefers coffee', min_score: 0 })).toMatchObject({ hits: [] });
    await expect(call('supersede', { id })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

import {
  Agent,
  type AgentInputItem,
  type AgentOutputType,
  MemorySession,
  Runner,
  setTracingDisabled,
  Usage,
} from '@openai/agents-core';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryInputFilter, memoryTools, type PromptMemory } from '../../src/adapters/openai-agents/index.ts';
import { ADAS_FACTS, BROKEN_MEMORY, openWithFacts } from '../helpers/adapter-memories.ts';
import { refusal } from '../helpers/refusal.ts';
import { BACKENDS, type TestBackend } from '../helpers/test-backends.ts';

setTracingDisabled(true);

const says = (text: string) => ({ usage: new Usage(), output: [assistantMessage(text)] });
const calls = (name: string, args: Record<string, unknown>) => ({
  usage: new Usage(),
  output: [functionCall(name, args, { callId: `call-${name}` })],
});

/** What the model was sent at one of its calls. */
function sent(model: ScriptedModel, index: number): AgentInputItem[] {
  const input = model.calls[index]?.request.input;
  return typeof input === 'string' || input === undefined ? expect.unreachable() : input;
}

const BLOCK = /MEMORY ENTRY \(Stored on/g;
const blocksIn = (items: unknown) => JSON.stringify(items).match(BLOCK)?.length ?? 0;

describe.each(BACKENDS)('OpenAI Agents $name', ({ open }) => {
  let backend: TestBackend;
  let places = 0;

  beforeAll(async () => {
    backend = await openWithFacts(open);
  });

  afterAll(() => backend.close());

  const newPlace = () => `vector.user.ada.agents${++places}`;
  const context = ADAS_FACTS;

  test('the block is one more part at the end of the last user message; everything else is as it was', async () => {
    const input: AgentInputItem[] = [
      { role: 'user', content: 'Hello.' },
      assistantMessage('Hello, how can I help?'),
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What does Ada drink?' },
          { type: 'input_image', image: 'data:image/png;base64,AQID' },
        ],
      },
    ];
    const given = JSON.stringify(input);
    const model = new ScriptedModel([says('?'), says('Tea.')]);
    const agent = new Agent({ name: 'A', instructions: 'Be brief.', model });
    await new Runner().run(agent, input);
    await new Runner({ callModelInputFilter: memoryInputFilter(backend.memory, { context }) }).run(
      agent,
      input,
    );
    expect(JSON.stringify(input)).toBe(given);
    const [before, after] = [sent(model, 0), sent(model, 1)];
    expect(model.calls[1]?.request.systemInstructions).toBe('Be brief.');
    expect(JSON.stringify(after.slice(0, 2))).toBe(JSON.stringify(before.slice(0, 2)));
    expect(after).toEqual([
      ...before.slice(0, 2),
      {
        ...before[2],
        content: [
          { type: 'input_text', text: 'What does Ada drink?' },
          { type: 'input_image', image: 'data:image/png;base64,AQID' },
          {
            type: 'input_text',
            text: expect.stringMatching(/^--- MEMORY ENTRY \(.*\n(.*\n)*An entry marked/),
          },
        ],
      },
    ]);
  });

  test('a session has each question with its block; the next turn searches for the question alone and sends one block', async () => {
    const session = new MemorySession();
    const model = new ScriptedModel([says('Tea.'), says('Without.'), says('Yes.')]);
    const agent = new Agent({ name: 'A', model });
    const asked: unknown[] = [];
    const memory: Pick<PromptMemory, 'context'> = {
      context: (input) => {
        asked.push(input.query);
        return backend.memory.context(input);
      },
    };
    const runner = new Runner({ callModelInputFilter: memoryInputFilter(memory, { context }) });
    await runner.run(agent, 'What does Ada drink?', { session });
    await runner.run(agent, 'With or without milk?', { session });
    await runner.run(agent, 'Is that true?', { session });
    expect(asked).toEqual(['What does Ada drink?', 'With or without milk?', 'Is that true?']);
    expect(model.calls.map((_, index) => blocksIn(sent(model, index)))).toEqual([1, 1, 1]);
    const [, , last] = model.calls.map((_, index) => sent(model, index));
    expect(last?.map((item) => ('role' in item ? item.role : item.type))).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    // What the third turn sends of the first is what the second sent of it.
    expect(JSON.stringify(last?.slice(0, 2))).toBe(JSON.stringify(sent(model, 1).slice(0, 2)));
    expect(blocksIn(last?.at(-1))).toBe(1);
  });

  test('the same block at every step of an answer, and tools that do what they say', async () => {
    const namespace = newPlace();
    const model = new ScriptedModel([
      calls('memory_write', { namespace, content: 'Ada drinks coffee on Sundays.' }),
      calls('memory_search', { query: 'Ada drinks coffee', namespaces: [namespace], min_score: 0 }),
      says('Tea, and coffee on Sundays.'),
    ]);
    const agent = new Agent({ name: 'A', model, tools: memoryTools(backend.memory) });
    const filter = memoryInputFilter(backend.memory, {
      context: { ...context, namespaces: ['vector.user.ada.*'] },
    });
    const session = new MemorySession();
    const result = await new Runner({ callModelInputFilter: filter }).run(agent, 'What does Ada drink?', {
      session,
    });
    expect(result.finalOutput).toBe('Tea, and coffee on Sundays.');
    const [first, , third] = model.calls.map((_, index) => sent(model, index));
    expect(third).toHaveLength(5);
    expect(JSON.stringify(third?.slice(0, 1))).toBe(JSON.stringify(first));
    const answers = third?.flatMap((item) => (item.type === 'function_call_result' ? [item.output] : []));
    const [written, found] = (answers ?? []).map((output) =>
      JSON.parse(typeof output === 'object' && 'text' in output ? output.text : String(output)),
    );
    expect(written).toMatchObject({ operation: 'create', memory: { namespace } });
    expect(found).toMatchObject({ hits: [{ entry: { content: 'Ada drinks coffee on Sundays.' } }] });
    expect(blocksIn(await session.getItems())).toBe(1);
  });

  test('the items given come back as the same objects, which the SDK knows them by', async () => {
    const agent = new Agent<unknown, AgentOutputType>({ name: 'A', model: new ScriptedModel([]) });
    const input: AgentInputItem[] = [
      { role: 'user', content: 'Hello.' },
      assistantMessage('Hello, how can I help?'),
      { role: 'user', content: 'What does Ada drink?' },
    ];
    const filter = memoryInputFilter(backend.memory, { context });
    const sentOn = await filter({ modelData: { input }, agent, context: undefined });
    expect(sentOn.input.map((item, index) => item === input[index])).toEqual([true, true, true]);
    expect(input[0]).toEqual({ role: 'user', content: 'Hello.' });
    expect(blocksIn(sentOn.input)).toBe(1);
  });

  test('streamed runs get the block too', async () => {
    const model = new ScriptedModel([says('Tea.')]);
    const runner = new Runner({ callModelInputFilter: memoryInputFilter(backend.memory, { context }) });
    const result = await runner.run(new Agent({ name: 'A', model }), 'What does Ada drink?', {
      stream: true,
    });
    await result.completed;
    expect(result.finalOutput).toBe('Tea.');
    expect(blocksIn(sent(model, 0))).toBe(1);
  });

  test('the run’s context says whose memory it is, for the filter and the tools', async () => {
    const users = { ada: await backend.as('ada'), bob: await backend.as('bob') };
    interface Asker {
      readonly user: keyof typeof users;
    }
    const lookups: string[] = [];
    const memoryOf = (asker: Asker | undefined) => {
      if (asker === undefined) return expect.unreachable();
      lookups.push(asker.user);
      return users[asker.user];
    };
    const search = () =>
      calls('memory_search', { query: 'drinks', namespaces: ['vector.user.*'], min_score: 0 });
    const model = new ScriptedModel([search(), says('Tea.'), search(), says('Beer.')]);
    const agent = new Agent<Asker>({ name: 'A', model, tools: memoryTools(memoryOf) });
    const runner = new Runner({
      callModelInputFilter: memoryInputFilter(memoryOf, { context: { minScore: 0 } }),
    });
    await runner.run(agent, 'What do I drink?', { context: { user: 'ada' } });
    await runner.run(agent, 'What do I drink?', { context: { user: 'bob' } });
    const [, ada, , bob] = model.calls.map((_, index) => JSON.stringify(sent(model, index)));
    expect(ada).toContain('Ada drinks tea');
    expect(ada).not.toContain('Bob drinks');
    expect(bob).toContain('Bob drinks beer');
    expect(bob).not.toContain('Ada drinks');
    // At every step: the filter of both calls, and the tool between them.
    expect(lookups).toEqual(['ada', 'ada', 'ada', 'bob', 'bob', 'bob']);
  });

  test('a tool reaches what the user and the policy allow, and tells the model why not further', async () => {
    const agentId = `openai-${++places}`;
    const tools = memoryTools(await backend.as('ada', agentId));
    const answerTo = async (name: string, args: Record<string, unknown>) => {
      const model = new ScriptedModel([calls(name, args), says('Done.')]);
      await new Runner().run(new Agent({ name: 'A', model, tools }), 'Go.');
      return JSON.stringify(sent(model, 1).at(-1));
    };
    const write = (namespace: string) =>
      answerTo('memory_write', { namespace, content: 'Ada likes oolong.' });
    expect(await write('vector.user.ada.oolong')).toMatch(/No policy/);
    await backend.putPolicy(agentId, { allowToolWrite: true, readNamespaces: ['vector.user.ada.*'] });
    expect(await write('vector.user.ada.oolong')).toContain('create');
    expect(await write('vector.user.bob.facts')).not.toContain('create');
    expect(await answerTo('memory_write', { content: 'x', owner_id: 'bob' })).toMatch(/owner_id/);
    expect((await backend.operator.list({ namespaces: ['vector.user.bob.*'] })).entries).toHaveLength(1);
  });
});

describe('a failing memory', () => {
  test('fails the run, before the model is called', async () => {
    const model = new ScriptedModel([]);
    const runner = new Runner({ callModelInputFilter: memoryInputFilter(BROKEN_MEMORY) });
    await expect(runner.run(new Agent({ name: 'A', model }), 'Tea?')).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(model.calls).toHaveLength(0);
  });

  test('with onMemoryError it is told, and the input stays as it is', async () => {
    const model = new ScriptedModel([says('?'), says('Tea.')]);
    const agent = new Agent({ name: 'A', model });
    const errors: unknown[] = [];
    const filter = memoryInputFilter(BROKEN_MEMORY, { onMemoryError: (error) => void errors.push(error) });
    await new Runner().run(agent, 'Tea?');
    await new Runner({ callModelInputFilter: filter }).run(agent, 'Tea?');
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(sent(model, 1))).toBe(JSON.stringify(sent(model, 0)));
  });
});

test('options that make no sense are refused at once', () => {
  // A caller in JavaScript may send anything.
  const options = { storeRuns: true } as object;
  expect(refusal(() => memoryInputFilter(BROKEN_MEMORY, options)).message).toMatch(/storeRuns.*unknown/);
});

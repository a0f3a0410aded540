import { Agent, type AgentConfig } from '@mastra/core/agent';
import type { MastraModelConfig } from '@mastra/core/llm';
import { MockMemory } from '@mastra/core/memory';
import type { ProcessInputArgs, ProcessLLMRequestArgs } from '@mastra/core/processors';
import { RequestContext } from '@mastra/core/request-context';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  MemoryProcessor,
  memoryTools,
  type PromptMemory,
  type PromptOptions,
} from '../../src/adapters/mastra/index.ts';
import { ADAS_FACTS, BROKEN_MEMORY, openWithFacts, QUESTION, storedIn } from '../helpers/adapter-memories.ts';
import { frozen } from '../helpers/frozen.ts';
import { refusal } from '../helpers/refusal.ts';
import { BACKENDS, type TestBackend } from '../helpers/test-backends.ts';

type Generated = Awaited<ReturnType<MastraLanguageModelV2Mock['doGenerate']>>;
type Content = Generated['content'][number];
type Streamed = Awaited<ReturnType<MastraLanguageModelV2Mock['doStream']>>;
type Part = Streamed['stream'] extends ReadableStream<infer StreamPart> ? StreamPart : never;

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

function says(text: string, finishReason: Generated['finishReason'] = 'stop'): Part[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    ...[...text].map((delta): Part => ({ type: 'text-delta', id: '1', delta })),
    { type: 'text-end', id: '1' },
    { type: 'finish', finishReason, usage },
  ];
}

function calls(toolName: string, input: unknown): Part[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) },
    { type: 'finish', finishReason: 'tool-calls', usage },
  ];
}

function streamOf(parts: readonly Part[], isEndless = false): Streamed {
  return {
    stream: new ReadableStream<Part>({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        if (!isEndless) controller.close();
      },
    }),
  };
}

/** Answers one script after another, the same whether it is asked for a stream or not. */
function scripted(...scripts: Part[][]): MastraLanguageModelV2Mock {
  let index = 0;
  const next = () => scripts[index++] ?? expect.unreachable('the model was called too often');
  return new MastraLanguageModelV2Mock({
    doStream: async () => streamOf(next()),
    doGenerate: async () => {
      const parts = next();
      const text = parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');
      const end = parts.find((part) => part.type === 'finish') ?? expect.unreachable();
      const spoken: Content[] = text === '' ? [] : [{ type: 'text', text }];
      const called: Content[] = parts.flatMap((part) => (part.type === 'tool-call' ? [part as Content] : []));
      return {
        content: [...spoken, ...called],
        finishReason: end.finishReason,
        usage,
        warnings: [],
      };
    },
  });
}

const promptsOf = (model: MastraLanguageModelV2Mock) =>
  [...model.doGenerateCalls, ...model.doStreamCalls].map(({ prompt }) => prompt);
const blocksIn = (value: unknown) => JSON.stringify(value).match(/MEMORY ENTRY \(Stored on/g)?.length ?? 0;

type Setup = Partial<Pick<AgentConfig, 'inputProcessors' | 'outputProcessors' | 'tools' | 'memory'>>;

function agentOf(model: MastraLanguageModelV2Mock, setup: Setup = {}): Agent {
  // Mastra's own mock is one of its models at run time; its types miss each other by an `undefined`.
  const config = model as unknown as MastraModelConfig;
  return new Agent({ id: 'a', name: 'A', instructions: 'Be brief.', model: config, ...setup });
}

/** An agent with the processor at both ends. */
function remembering(
  model: MastraLanguageModelV2Mock,
  memory: PromptMemory,
  options?: PromptOptions,
  setup: Setup = {},
): Agent {
  const processor = new MemoryProcessor(memory, options);
  return agentOf(model, { inputProcessors: [processor], outputProcessors: [processor], ...setup });
}

describe.each(BACKENDS)('Mastra $name', ({ open }) => {
  let backend: TestBackend;
  let places = 0;

  beforeAll(async () => {
    backend = await openWithFacts(open);
  });

  afterAll(() => backend.close());

  const newPlace = () => `vector.user.ada.mastra${++places}`;
  const context = ADAS_FACTS;

  test('the block stands at the end of the last user message; everything else is as it was', async () => {
    const messages = () => [
      { role: 'user' as const, content: 'Hello.' },
      { role: 'assistant' as const, content: 'Hello, how can I help?' },
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: 'What does Ada drink?' },
          { type: 'file' as const, data: 'AQID', mediaType: 'image/png' },
        ],
      },
    ];
    const model = scripted(says('Tea.'));
    let before: ProcessLLMRequestArgs['prompt'] | undefined;
    const spy = {
      id: 'spy',
      async processLLMRequest({ prompt }: ProcessLLMRequestArgs) {
        before = structuredClone(prompt);
        return undefined;
      },
    };
    const processor = new MemoryProcessor(backend.memory, frozen({ context }));
    await agentOf(model, { inputProcessors: [spy, processor] }).generate(messages());
    const [after] = promptsOf(model);
    expect(after?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(JSON.stringify(after?.slice(0, 3))).toBe(JSON.stringify(before?.slice(0, 3)));
    const parts = (after?.[3]?.content ?? []) as { type: string; text?: string }[];
    expect(JSON.stringify(parts.slice(0, 2))).toBe(JSON.stringify(before?.[3]?.content));
    expect(parts.map(({ type }) => type)).toEqual(['text', 'file', 'text']);
    expect(parts[2]?.text).toMatch(/^--- MEMORY ENTRY \(.*vector\.user\.ada\.facts\) ---\nAda drinks tea/);
  });

  test('beside another processor, and with Mastra’s own memory, which never gets to see a block', async () => {
    const model = scripted(says('Tea.'), says('Without.'));
    const memory = new MockMemory();
    const processor = new MemoryProcessor(backend.memory, { context });
    const quiet = { id: 'quiet', processInput: ({ messages }: ProcessInputArgs) => messages };
    const agent = agentOf(model, { inputProcessors: [quiet, processor], memory });
    const thread = { memory: { thread: 't1', resource: 'ada' } };
    await agent.generate('What does Ada drink?', thread);
    await agent.generate('With or without milk?', thread);
    const [first, second] = promptsOf(model);
    expect([first, second].map(blocksIn)).toEqual([1, 1]);
    expect(second?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(blocksIn(second?.slice(0, 3))).toBe(0);
    const { messages } = await memory.recall({ threadId: 't1' });
    expect(messages.length).toBeGreaterThan(3);
    expect(blocksIn(messages)).toBe(0);
  });

  test('the same block at every step of an answer, tools that do what they say, and one run stored', async () => {
    const namespace = newPlace();
    const model = scripted(
      calls('memory_write', { namespace, content: 'Ada drinks coffee on Sundays.' }),
      calls('memory_search', { query: 'Ada drinks coffee', namespaces: [namespace], min_score: 0 }),
      says('Tea, and coffee on Sundays.'),
    );
    const runs = newPlace();
    const agent = remembering(
      model,
      backend.memory,
      { context: { ...context, namespaces: ['vector.user.ada.*'] }, storeRuns: { namespace: runs } },
      { tools: memoryTools(backend.memory) },
    );
    const result = await agent.generate(QUESTION);
    expect(result.text).toBe('Tea, and coffee on Sundays.');
    const [first, , third] = promptsOf(model);
    expect(JSON.stringify(third?.slice(0, first?.length))).toBe(JSON.stringify(first));
    const [written, found] = result.steps.flatMap(({ toolResults }) =>
      toolResults.map(({ payload }) => payload.result),
    );
    expect(written).toMatchObject({ operation: 'create', memory: { namespace } });
    expect(found).toMatchObject({ hits: [{ entry: { content: 'Ada drinks coffee on Sundays.' } }] });
    expect(await storedIn(backend, runs)).toEqual([
      ['run_input', QUESTION],
      ['run_output', 'Tea, and coffee on Sundays.'],
    ]);
  });

  test('streams, and stores the run when the stream has ended', async () => {
    const namespace = newPlace();
    const model = scripted(says('Tea without milk.'));
    const agent = remembering(model, backend.memory, { context, storeRuns: { namespace } });
    const { textStream } = await agent.stream(QUESTION);
    const deltas: string[] = [];
    for await (const delta of textStream) deltas.push(delta);
    expect(deltas.join('')).toBe('Tea without milk.');
    expect(deltas.length).toBeGreaterThan(10);
    expect(blocksIn(promptsOf(model))).toBe(1);
    expect(await storedIn(backend, namespace)).toEqual([
      ['run_input', QUESTION],
      ['run_output', 'Tea without milk.'],
    ]);
  });

  test('an aborted run and one that was cut by a filter are not stored', async () => {
    const namespace = newPlace();
    const options = { context, storeRuns: { namespace } };
    await remembering(scripted(says('Te', 'content-filter')), backend.memory, options).generate(QUESTION);
    const abort = new AbortController();
    const endless = new MastraLanguageModelV2Mock({
      doStream: async () => streamOf(says('Tea, and').slice(0, -2), true),
    });
    const { textStream } = await remembering(endless, backend.memory, options).stream(QUESTION, {
      abortSignal: abort.signal,
    });
    let seen = '';
    for await (const delta of textStream) {
      seen += delta;
      if (seen === 'Tea, and') abort.abort();
    }
    expect(seen).toBe('Tea, and');
    expect(await storedIn(backend, namespace)).toEqual([]);
  });

  test('the request context says whose memory it is, for the processor and the tools', async () => {
    const users: Record<string, TestBackend['memory']> = {
      ada: await backend.as('ada'),
      bob: await backend.as('bob'),
    };
    const memoryOf = (asker: RequestContext | undefined) =>
      users[String(asker?.get('user'))] ?? expect.unreachable('nobody is asking');
    const search = () =>
      calls('memory_search', { query: 'drinks', namespaces: ['vector.user.*'], min_score: 0 });
    const model = scripted(search(), says('Tea.'), search(), says('Beer.'));
    const processor = new MemoryProcessor(memoryOf, { context: { minScore: 0 } });
    const agent = agentOf(model, { inputProcessors: [processor], tools: memoryTools(memoryOf) });
    for (const user of ['ada', 'bob']) {
      await agent.generate('What do I drink?', {
        requestContext: new RequestContext([['user', user]]) as RequestContext,
      });
    }
    const [, ada, , bob] = promptsOf(model).map((prompt) => JSON.stringify(prompt));
    expect(ada).toContain('Ada drinks tea');
    expect(ada).not.toContain('Bob drinks');
    expect(bob).toContain('Bob drinks beer');
    expect(bob).not.toContain('Ada drinks');
  });

  test('a tool reaches what the user and the policy allow, and tells the model why not further', async () => {
    const agentId = `mastra-${++places}`;
    const tools = memoryTools(await backend.as('ada', agentId));
    const answerTo = async (name: string, args: unknown) => {
      const model = scripted(calls(name, args), says('Done.'));
      await agentOf(model, { tools }).generate('Go.');
      return JSON.stringify(promptsOf(model)[1]?.at(-1));
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
  test('fails the call, before the model is called', async () => {
    const model = scripted();
    await expect(remembering(model, BROKEN_MEMORY).generate('Tea?')).rejects.toThrow('The database is away.');
    expect(promptsOf(model)).toEqual([]);
  });

  test('with onMemoryError it is told, the prompt stays as it is, and the answer comes', async () => {
    const model = scripted(says('Tea.'));
    const errors: unknown[] = [];
    const options = { storeRuns: true, onMemoryError: (error: unknown) => void errors.push(error) };
    expect((await remembering(model, BROKEN_MEMORY, options).generate('Tea?')).text).toBe('Tea.');
    expect(errors).toHaveLength(2);
    expect(promptsOf(model)[0]?.at(-1)?.content).toMatchObject([{ type: 'text', text: 'Tea?' }]);
  });
});

test('options that make no sense are refused at once', () => {
  const odd = { storeRun: true } as object;
  expect(refusal(() => new MemoryProcessor(BROKEN_MEMORY, odd)).message).toMatch(/Did you mean storeRuns/);
});

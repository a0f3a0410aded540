import {
  generateText,
  isStepCount,
  type LanguageModelMiddleware,
  type ModelMessage,
  streamText,
  wrapLanguageModel,
} from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryTools, palimpsestMiddleware } from '../../src/adapters/ai-sdk/index.ts';
import { PalimpsestError } from '../../src/core/errors.ts';
import { ADAS_FACTS, BROKEN_MEMORY, openWithFacts, QUESTION, storedIn } from '../helpers/adapter-memories.ts';
import { frozen } from '../helpers/frozen.ts';
import { refusal } from '../helpers/refusal.ts';
import { BACKENDS, type TestBackend } from '../helpers/test-backends.ts';

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;
type StreamPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never;
type Reason = Generated['finishReason']['unified'];

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const finished = (unified: Reason) => ({ unified, raw: undefined });

function says(text: string, reason: Reason = 'stop'): Generated {
  return { content: [{ type: 'text', text }], finishReason: finished(reason), usage, warnings: [] };
}

function calls(toolName: string, input: unknown): Generated {
  return {
    content: [{ type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) }],
    finishReason: finished('tool-calls'),
    usage,
    warnings: [],
  };
}

function streams(
  text: string,
  end: StreamPart[] = [{ type: 'finish', finishReason: finished('stop'), usage }],
): StreamPart[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id: '1' },
    ...[...text].map((delta): StreamPart => ({ type: 'text-delta', id: '1', delta })),
    { type: 'text-end', id: '1' },
    ...end,
  ];
}

const withMemory = (model: MockLanguageModelV4, middleware: LanguageModelMiddleware) =>
  wrapLanguageModel({ model, middleware });

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe.each(BACKENDS)('AI SDK $name', ({ open }) => {
  let backend: TestBackend;
  let places = 0;

  beforeAll(async () => {
    backend = await openWithFacts(open);
  });

  afterAll(() => backend.close());

  const newPlace = () => `vector.user.ada.runs${++places}`;
  const options = { context: ADAS_FACTS };

  test('the block stands at the end of the last user message; everything else is as it was', async () => {
    const messages: ModelMessage[] = frozen([
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: 'Hello, how can I help?' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What does Ada drink?' },
          { type: 'file', mediaType: 'image/png', data: 'AQID' },
        ],
      },
    ]);
    const [bare, remembering] = [says('?'), says('Tea.')].map(
      (doGenerate) => new MockLanguageModelV4({ doGenerate }),
    );
    if (bare === undefined || remembering === undefined) return expect.unreachable();
    const instructions = 'Be brief.';
    await generateText({ model: bare, instructions, messages });
    await generateText({
      model: withMemory(remembering, palimpsestMiddleware(backend.memory, frozen(options))),
      instructions,
      messages,
    });

    const before = bare.doGenerateCalls[0]?.prompt ?? [];
    const after = remembering.doGenerateCalls[0]?.prompt ?? [];
    expect(after).toHaveLength(4);
    expect(JSON.stringify(after.slice(0, 3))).toBe(JSON.stringify(before.slice(0, 3)));
    const [question, image, block, ...more] = (after[3]?.content ?? []) as { type: string; text?: string }[];
    expect(JSON.stringify([question, image])).toBe(JSON.stringify(before[3]?.content));
    expect(block?.text).toMatch(
      /^--- MEMORY ENTRY \(.*vector\.user\.ada\.facts\) ---\nAda drinks tea in the morning/,
    );
    expect(more).toEqual([]);
  });

  test('the same block at every step of an answer, whatever is stored on the way; a new question has its own', async () => {
    const namespace = newPlace();
    const answers = [
      calls('memory_write', { namespace, content: 'Ada drinks coffee on Sundays.' }),
      calls('memory_search', { query: 'Ada drinks', namespaces: [namespace], min_score: 0 }),
      says('Tea, and coffee on Sundays.'),
      says('As I said.'),
    ];
    const mock = new MockLanguageModelV4({ doGenerate: answers });
    const model = withMemory(
      mock,
      palimpsestMiddleware(backend.memory, {
        context: { namespaces: [namespace, 'vector.user.ada.facts'], minScore: 0 },
      }),
    );
    const result = await generateText({
      model,
      prompt: 'What does Ada drink?',
      tools: memoryTools(backend.memory),
      stopWhen: isStepCount(5),
    });
    expect(result.text).toBe('Tea, and coffee on Sundays.');
    const first = mock.doGenerateCalls[0]?.prompt ?? [];
    const third = mock.doGenerateCalls[2]?.prompt ?? [];
    expect(third.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
    expect(JSON.stringify(third.slice(0, first.length))).toBe(JSON.stringify(first));
    // What the tools did is real.
    const [write, search] = result.steps.flatMap(({ toolResults }) => toolResults);
    expect(write?.output).toMatchObject({ operation: 'create', memory: { namespace } });
    expect(search?.output).toMatchObject({ hits: [{ entry: { content: 'Ada drinks coffee on Sundays.' } }] });

    await generateText({ model, prompt: 'What does Ada drink?' });
    expect(JSON.stringify(mock.doGenerateCalls[3]?.prompt)).toContain('coffee on Sundays');
  });

  test('nothing found and nothing asked leave the prompt as it is', async () => {
    const mock = new MockLanguageModelV4({ doGenerate: says('Yes.') });
    const model = withMemory(
      mock,
      palimpsestMiddleware(backend.memory, { context: { namespaces: ['nothing.here'] } }),
    );
    await generateText({ model, prompt: 'Anything?' });
    await generateText({
      model,
      messages: [
        { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: new Uint8Array([1]) }] },
      ],
    });
    const off = withMemory(mock, palimpsestMiddleware(BROKEN_MEMORY, { context: false }));
    await generateText({ model: off, prompt: 'Anything?' });
    expect(mock.doGenerateCalls.map(({ prompt }) => prompt[0]?.content.length)).toEqual([1, 1, 1]);
  });

  test('stores a finished run once, question and answer without the block, not the steps on the way', async () => {
    const namespace = newPlace();
    const mock = new MockLanguageModelV4({
      doGenerate: [calls('memory_search', { query: 'Ada' }), says('Tea, '.repeat(2))],
    });
    const middleware = palimpsestMiddleware(backend.memory, { ...options, storeRuns: { namespace } });
    await generateText({
      model: withMemory(mock, middleware),
      prompt: QUESTION,
      tools: memoryTools(backend.memory),
      stopWhen: isStepCount(5),
    });
    expect(await storedIn(backend, namespace)).toEqual([
      ['run_input', QUESTION],
      ['run_output', 'Tea, Tea, '],
    ]);
  });

  test('stores a streamed run when it has come to its end, and by then it is stored', async () => {
    const namespace = newPlace();
    const mock = new MockLanguageModelV4({
      doStream: { stream: convertArrayToReadableStream(streams('Tea without milk.')) },
    });
    const middleware = palimpsestMiddleware(backend.memory, { ...options, storeRuns: { namespace } });
    const { textStream } = streamText({ model: withMemory(mock, middleware), prompt: QUESTION });
    const deltas = await all(textStream);
    expect(deltas.join('')).toBe('Tea without milk.');
    expect(deltas.length).toBeGreaterThan(10);
    expect(JSON.stringify(mock.doStreamCalls[0]?.prompt)).toContain('MEMORY ENTRY');
    expect(await storedIn(backend, namespace)).toEqual([
      ['run_input', QUESTION],
      ['run_output', 'Tea without milk.'],
    ]);
  });

  test.each<[string, StreamPart[]]>([
    [
      'ends in an error',
      [
        { type: 'error', error: new Error('overloaded') },
        { type: 'finish', finishReason: finished('error'), usage },
      ],
    ],
    ['ends without a word', []],
    ['calls a tool', [{ type: 'finish', finishReason: finished('tool-calls'), usage }]],
    ['was cut by a filter', [{ type: 'finish', finishReason: finished('content-filter'), usage }]],
  ])('a stream that %s is not stored', async (_, end) => {
    const namespace = newPlace();
    const mock = new MockLanguageModelV4({
      doStream: { stream: convertArrayToReadableStream(streams('Te', end)) },
    });
    const middleware = palimpsestMiddleware(backend.memory, { ...options, storeRuns: { namespace } });
    const { stream } = await withMemory(mock, middleware).doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: QUESTION }] }],
    });
    expect((await all(stream)).length).toBeGreaterThan(4);
    expect(await storedIn(backend, namespace)).toEqual([]);
  });

  test('an aborted run is not stored, streamed or not', async () => {
    const namespace = newPlace();
    const middleware = palimpsestMiddleware(backend.memory, { ...options, storeRuns: { namespace } });
    const [ofStream, ofCall] = [new AbortController(), new AbortController()];
    const endless = new ReadableStream<StreamPart>({
      start(controller) {
        for (const part of streams('Tea, and', [])) controller.enqueue(part);
      },
    });
    const mock = new MockLanguageModelV4({
      doStream: { stream: endless },
      // A model that answers although it was told to stop.
      doGenerate: async () => {
        ofCall.abort();
        return says('Tea.');
      },
    });
    const aborted: unknown[] = [];
    const { textStream } = streamText({
      model: withMemory(mock, middleware),
      prompt: QUESTION,
      abortSignal: ofStream.signal,
      onAbort: (event) => void aborted.push(event),
    });
    let seen = '';
    for await (const delta of textStream) {
      seen += delta;
      if (seen === 'Tea, and') ofStream.abort();
    }
    expect(aborted).toHaveLength(1);
    await withMemory(mock, middleware).doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'text', text: QUESTION }] }],
      abortSignal: ofCall.signal,
    });
    expect(ofCall.signal.aborted).toBe(true);
    expect(await storedIn(backend, namespace)).toEqual([]);
  });

  test('where no policy lets the agent store, nothing is stored and nothing fails; with one, its place is used', async () => {
    const write_namespace = newPlace();
    const mock = new MockLanguageModelV4({ doGenerate: says('Tea without milk.') });
    const middleware = palimpsestMiddleware(await backend.as('ada', `agent-${places}`), { storeRuns: true });
    await generateText({ model: withMemory(mock, middleware), prompt: QUESTION });
    expect(await storedIn(backend, write_namespace)).toEqual([]);
    await backend.putPolicy(`agent-${places}`, { allowWrite: true, writeNamespace: write_namespace });
    await generateText({ model: withMemory(mock, middleware), prompt: QUESTION });
    expect(await storedIn(backend, write_namespace)).toHaveLength(2);
  });

  test('a tool reaches what the user and the policy allow, and says why not further', async () => {
    const agent = `tools-${++places}`;
    const tools = memoryTools(await backend.as('ada', agent), { tools: ['search', 'write', 'delete'] });
    const run = async (toolName: string, input: unknown) => {
      const model = new MockLanguageModelV4({ doGenerate: [calls(toolName, input), says('Done.')] });
      const { steps } = await generateText({ model, prompt: 'Go.', tools, stopWhen: isStepCount(3) });
      const [part] =
        steps[0]?.content.filter(({ type }) => type === 'tool-result' || type === 'tool-error') ?? [];
      return part?.type === 'tool-error' ? String(part.error) : part;
    };
    const write = (namespace: string) => run('memory_write', { namespace, content: 'Ada likes oolong.' });
    expect(await write('vector.user.ada.facts')).toMatch(/allow_tool_write|No policy/);
    await backend.putPolicy(agent, { allowToolWrite: true, readNamespaces: ['vector.user.ada.*'] });
    expect(await write('vector.user.ada.oolong')).toMatchObject({ output: { operation: 'create' } });
    expect(await write('vector.user.bob.facts')).toMatch(/may not|not write|forbidden/i);
    expect(
      await run('memory_search', {
        query: 'Bob drinks beer',
        namespaces: ['vector.user.bob.*'],
        min_score: 0,
      }),
    ).not.toMatchObject({
      output: { hits: [expect.anything()] },
    });
    const [entry] = (await backend.operator.list({ namespaces: ['vector.user.ada.oolong'] })).entries;
    expect(await run('memory_delete', { id: entry?.id })).toMatch(/delete/);
    // No argument says who is asking.
    expect(await run('memory_write', { content: 'x', user_id: 'bob' })).toMatch(/user_id/);
    expect(await run('memory_write', { content: ' ' })).toMatch(/content/);
  });

  test('where the host says where memories lie, the model is not asked', async () => {
    const namespace = newPlace();
    const tools = memoryTools(
      backend.memory,
      frozen({ namespace, namespaces: [`${namespace}.*`, namespace] }),
    );
    const model = new MockLanguageModelV4({
      doGenerate: [
        calls('memory_write', { content: 'Ada likes jasmine tea.', namespace: 'vector.user.bob' }),
        calls('memory_write', { content: 'Ada likes jasmine tea.' }),
        calls('memory_search', { query: 'Ada likes jasmine tea' }),
        says('Done.'),
      ],
    });
    const { steps } = await generateText({ model, prompt: 'Go.', tools, stopWhen: isStepCount(4) });
    const [refused, written, found] = steps.map(({ content }) =>
      content.find(({ type }) => type === 'tool-result' || type === 'tool-error'),
    );
    expect(refused).toMatchObject({ type: 'tool-error' });
    expect(written).toMatchObject({ output: { memory: { namespace } } });
    expect(found).toMatchObject({
      output: { hits: [{ entry: { namespace, content: 'Ada likes jasmine tea.' } }] },
    });
    expect(JSON.stringify(model.doGenerateCalls[0]?.tools)).not.toContain('"namespace"');

    const { id } =
      (found as { output: { hits: { entry: { id: string } }[] } }).output.hits[0]?.entry ??
      expect.unreachable();
    const again = new MockLanguageModelV4({
      doGenerate: [
        calls('memory_supersede', { id, draft: { content: 'Ada likes white tea.' } }),
        calls('memory_feedback', {
          memory_id: id,
          trace_id: (found as { output: { trace_id: string } }).output.trace_id,
          signal: 'wrong',
        }),
        says('Done.'),
      ],
    });
    const later = await generateText({ model: again, prompt: 'Go.', tools, stopWhen: isStepCount(4) });
    const [superseded, feedback] = later.steps.flatMap(({ toolResults }) => toolResults);
    expect(superseded?.output).toMatchObject({
      superseded: { id, status: 'superseded' },
      successor: { namespace },
    });
    expect(feedback?.output).toMatchObject({ recorded: true });
  });
});

describe('a failing memory', () => {
  const prompt = QUESTION;

  test('fails the call, before the model is paid for', async () => {
    const mock = new MockLanguageModelV4({ doGenerate: says('Tea.') });
    const call = generateText({ model: withMemory(mock, palimpsestMiddleware(BROKEN_MEMORY)), prompt });
    await expect(call).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(mock.doGenerateCalls).toEqual([]);
  });

  test('with onMemoryError it is told, the prompt stays as it is, and the answer comes, streamed or not', async () => {
    const mock = new MockLanguageModelV4({
      doGenerate: says('Tea.'),
      doStream: { stream: convertArrayToReadableStream(streams('Tea.')) },
    });
    const codes: unknown[] = [];
    const onMemoryError = (error: unknown) =>
      void codes.push(PalimpsestError.isInstance(error) && error.code);
    const model = withMemory(mock, palimpsestMiddleware(BROKEN_MEMORY, { storeRuns: true, onMemoryError }));
    expect((await generateText({ model, prompt })).text).toBe('Tea.');
    expect(await streamText({ model, prompt }).text).toBe('Tea.');
    expect(codes).toEqual(Array(4).fill('store_unavailable'));
    const sent = [...mock.doGenerateCalls, ...mock.doStreamCalls].map(
      ({ prompt: [message] }) => message?.content,
    );
    expect(sent).toEqual(
      [[{ type: 'text', text: prompt }], [{ type: 'text', text: prompt }]].map(([part]) => [
        expect.objectContaining(part ?? {}),
      ]),
    );
  });
});

test('options that make no sense are refused at once', () => {
  const middleware = (options: object) => refusal(() => palimpsestMiddleware(BROKEN_MEMORY, options)).message;
  expect(middleware({ onMemoryEror: () => {} })).toMatch(/onMemoryEror.*Did you mean onMemoryError/);
  expect(middleware({ storeRuns: { name: 'x' } })).toMatch(/name/);
  expect(middleware({ storeRuns: { namespace: 'a..b' } })).toMatch(/storeRuns\.namespace/);
  const memory = { forTools: () => expect.unreachable() };
  expect(refusal(() => memoryTools(memory, { namespace: 'vec*' })).message).toMatch(/namespace/);
  expect(refusal(() => memoryTools(memory, { namespaces: ['vec*'] })).message).toMatch(/namespaces/);
  // A caller in JavaScript may send anything.
  const odd = { tools: ['forget'] } as object;
  expect(refusal(() => memoryTools(memory, odd)).message).toMatch(/no tool.*forget.*Allowed: search/);
});

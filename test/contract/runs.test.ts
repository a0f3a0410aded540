import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_CONTENT_BYTES } from '../../src/core/defaults.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import type { PolicyDraft } from '../../src/service/governance-service.ts';
import type { ObservedRun } from '../../src/service/observe-run.ts';
import type { RequestContext } from '../../src/service/request-context.ts';
import { rejection } from '../helpers/refusal.ts';
import { similarityProvider } from '../helpers/similarity-provider.ts';
import { as, asAdmin, openTestServices, operator, type TestServices } from '../helpers/test-services.ts';

/** What a host reports of its agents' runs, and what is stored of it. */

let services: TestServices;
/** Every text that was sent to the embedding provider. */
const embedded: string[] = [];

beforeAll(async () => {
  const provider = similarityProvider();
  const watched: EmbeddingProvider = {
    ...provider,
    embed: (texts, purpose, options) => {
      embedded.push(...texts);
      return provider.embed(texts, purpose, options);
    },
  };
  services = await openTestServices({ provider: watched });
});
afterAll(() => services.close());

let agentId: string;
let number = 0;
beforeEach(() => {
  number += 1;
  agentId = `agent-${number}`;
  embedded.length = 0;
});

const LONG_INPUT = `Where do I send the invoice for Alexandra, who moved to another office? ${'x'.repeat(20)}`;

const policy = (draft: PolicyDraft) =>
  services.governance.putPolicy(asAdmin(), { kind: 'agent', id: agentId }, draft);
const allowing = () =>
  policy({ allowWrite: true, writeNamespace: 'vector.agent.${user_id}.runs.${agent_id}' });
const ada = (subject: object = {}) => as('ada', { subject: { agentId, ...subject } });
const observe = (run: ObservedRun, context: RequestContext = ada()) =>
  services.service.observeRun(context, run);
const storedOf = async (namespace = `vector.agent.ada.runs.${agentId}`) => {
  const { entries } = await services.service.list(operator(), { namespaces: [namespace], lifecycle: 'any' });
  return entries;
};

test('input and output are stored where the policy says, with their source and whom they were for', async () => {
  await allowing();
  const context = ada({ taskId: 't1', chatId: 'c1', sessionId: 's1' });
  const result = await observe({ runId: 'run 1', input: LONG_INPUT, output: 'To the new office.' }, context);
  expect(result).toMatchObject({
    runId: 'run 1',
    isReplay: false,
    stored: [
      { part: 'input', operation: 'create' },
      { part: 'output', operation: 'create' },
    ],
    skipped: [],
  });
  const [input, output] = await Promise.all(
    result.stored.map(({ memoryId }) => services.service.get(as('ada'), memoryId)),
  );
  const shared = {
    namespace: `vector.agent.ada.runs.${agentId}`,
    type: 'episode',
    status: 'unconfirmed',
    metadata: { run_id: 'run 1', agent_id: agentId, task_id: 't1', chat_id: 'c1', session_id: 's1' },
  };
  expect(input).toMatchObject({
    ...shared,
    content: LONG_INPUT,
    source: { kind: 'run_input', ref: 'run 1' },
  });
  expect(output).toMatchObject({
    ...shared,
    content: 'To the new office.',
    source: { kind: 'run_output', ref: 'run 1' },
  });
  const writes = (await services.audit()).filter(
    ({ action, memoryId }) => action === 'write' && memoryId === input?.id,
  );
  expect(writes).toMatchObject([{ action: 'write', operation: 'create', detail: { auto_write: true } }]);
});

describe('an input is stored from 80 characters up: code points, without white space around them.', () => {
  test.each([
    ['79 letters', 'a'.repeat(79), 0],
    ['80 letters', 'a'.repeat(80), 1],
    ['79 letters in much space', ` \n${'a'.repeat(79)}   `, 0],
    ['80 emoji, each of two code units', '🙂'.repeat(80), 1],
    ['40 emoji, which have 80 code units', '🙂'.repeat(40), 0],
  ])('%s', async (_, input, count) => {
    await allowing();
    const { stored, skipped } = await observe({ runId: agentId, input });
    expect(stored).toHaveLength(count);
    expect(skipped).toEqual(count === 1 ? [] : [{ part: 'input', reason: 'too_short' }]);
  });

  test('an output is stored however short it is, unless it is blank', async () => {
    await allowing();
    expect((await observe({ runId: 'r1', output: 'ok' })).stored).toHaveLength(1);
    expect(await observe({ runId: 'r2', output: ' \n\u200b' })).toMatchObject({
      stored: [],
      skipped: [{ part: 'output', reason: 'blank' }],
    });
  });
});

describe('nothing is stored, and nothing is sent to the embedding provider,', () => {
  test.each<[string, PolicyDraft | null]>([
    ['without a policy', null],
    ['where the policy says nothing of it', { writeNamespace: 'vector.agent.${user_id}.runs' }],
    ['where only tools may write', { allowToolWrite: true, writeNamespace: 'vector.agent.${user_id}.runs' }],
  ])('%s', async (_, draft) => {
    if (draft !== null) await policy(draft);
    const result = await observe({ runId: 'r', input: LONG_INPUT, output: 'done' });
    expect(result).toEqual({
      runId: 'r',
      isReplay: false,
      stored: [],
      skipped: [
        { part: 'input', reason: 'not_allowed' },
        { part: 'output', reason: 'not_allowed' },
      ],
    });
    expect(embedded).toEqual([]);
  });

  test('and once the policy allows it, the same run is', async () => {
    const run = { runId: 'later', output: `done by ${agentId}` };
    expect((await observe(run)).stored).toEqual([]);
    await allowing();
    expect((await observe(run)).stored).toHaveLength(1);
  });
});

describe('a run is stored once:', () => {
  test('a second report gives the answer of the first and changes nothing', async () => {
    await allowing();
    const run = { runId: 'twice', input: LONG_INPUT, output: 'done' };
    const first = await observe(run);
    const before = await storedOf();
    services.advance(3_600_000);
    expect(await observe(run)).toEqual({ ...first, isReplay: true });
    expect(await storedOf()).toEqual(before);
  });

  test('not even what was forgotten since comes back', async () => {
    await allowing();
    const run = { runId: 'forgotten', output: 'embarrassing' };
    const { stored } = await observe(run);
    await services.service.forget(as('ada'), stored[0]?.memoryId ?? '');
    await observe(run);
    expect(await storedOf()).toMatchObject([{ content: 'embarrassing', deletedAt: expect.any(Date) }]);
  });

  test('twenty reports at once make one', async () => {
    await allowing();
    const run = { runId: 'at once', input: LONG_INPUT, output: 'done' };
    const results = await Promise.all(Array.from({ length: 20 }, () => observe(run)));
    expect(new Set(results.map(({ stored }) => JSON.stringify(stored))).size).toBe(1);
    expect(results.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(await storedOf()).toHaveLength(2);
  });

  test('the same id with another output is refused', async () => {
    await allowing();
    await observe({ runId: 'same', output: 'one' });
    const refused = await rejection(observe({ runId: 'same', output: 'two' }));
    expect(refused.code).toBe('conflict');
    expect(refused.details[0]).toMatchObject({ path: 'run_id', got: 'same' });
    expect(await storedOf()).toMatchObject([{ content: 'one' }]);
  });

  test('two users’ runs of one id are two', async () => {
    await allowing();
    const run = { runId: 'shared', output: 'done' };
    await observe(run);
    const { isReplay, stored } = await observe(run, as('bob', { subject: { agentId } }));
    expect(isReplay).toBe(false);
    expect(stored).toHaveLength(1);
  });
});

test('a text longer than an entry is stored in parts, none of it lost', async () => {
  await allowing();
  const output = Array.from({ length: 6000 }, (_, index) => `Sentence ${index} of a report. `).join('');
  const { stored } = await observe({ runId: 'long', output });
  expect(stored.length).toBe(Math.ceil(output.length / MAX_CONTENT_BYTES));
  const parts = await Promise.all(stored.map(({ memoryId }) => services.service.get(as('ada'), memoryId)));
  expect(parts.map(({ content }) => content).join('')).toBe(output);
  expect(parts.map(({ metadata }) => [metadata.part, metadata.parts])).toEqual([
    [1, 3],
    [2, 3],
    [3, 3],
  ]);
});

test('a namespace in the report goes before the policy’s, and has to be one the asker may write to', async () => {
  await allowing();
  const own = await observe({ runId: 'own', output: 'done', namespace: 'vector.user.ada.elsewhere' });
  expect(own.stored).toHaveLength(1);
  const foreign = observe({ runId: 'foreign', output: 'done', namespace: 'vector.user.bob.notes' });
  expect((await rejection(foreign)).code).toBe('forbidden');
});

test('the operator’s own agents need no policy, but a place', async () => {
  const context: RequestContext = { ...operator(), subject: { agentId } };
  const placed = await observe({ runId: 'r1', output: 'done', namespace: `team.${agentId}` }, context);
  expect(placed.stored).toHaveLength(1);
  expect((await rejection(observe({ runId: 'r2', output: 'done' }, context))).code).toBe('invalid_input');
  await policy({ allowWrite: false });
  const refused = await observe({ runId: 'r3', output: 'done', namespace: `team.${agentId}` }, context);
  expect(refused.skipped).toEqual([{ part: 'output', reason: 'not_allowed' }]);
});

test('what the contract of an entry refuses, a run refuses whole, and its id stays free', async () => {
  await allowing();
  const refused = await rejection(observe({ runId: 'nul', input: LONG_INPUT, output: 'a\0b' }));
  expect(refused.code).toBe('invalid_input');
  expect(await storedOf()).toEqual([]);
  expect((await observe({ runId: 'nul', input: LONG_INPUT, output: 'ab' })).stored).toHaveLength(2);
  expect((await rejection(observe({ runId: ' ', output: 'x' }))).details[0]?.path).toBe('run_id');
  expect((await rejection(observe({ runId: 'r'.repeat(129), output: 'x' }))).details[0]?.path).toBe('run_id');
});

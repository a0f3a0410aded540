import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ContextRequest } from '../../src/service/fill-context.ts';
import { createTokenCounter } from '../../src/tokenizer/token-counter.ts';
import { rejection } from '../helpers/refusal.ts';
import { as, asAdmin, openTestServices, operator, type TestServices } from '../helpers/test-services.ts';

/** SPEC section 6 from end to end: recall, policy, rules, budget, audit and trace. Contents start with their similarity. */

const NOTE =
  'An entry marked “confirmed by the user” was verified by them; the others are records nobody has checked since they were written.';

let services: TestServices;

beforeAll(async () => {
  services = await openTestServices();
});
afterAll(() => services.close());

/** Each test has a user of its own, so that none sees another's entries. */
let users = 0;
function newUser(): string {
  users += 1;
  return `user-${users}`;
}

async function remember(user: string, folder: string, content: string): Promise<string> {
  const { entry } = await services.service.remember(as(user), {
    namespace: `vector.agent.${user}.${folder}`,
    content,
  });
  return entry.id;
}

test('the block: groups under their instructions, dates of the request, the note, character by character', async () => {
  const user = newUser();
  await services.service.putRule(operator(), {
    pattern: 'vector.agent.${user_id}.preferences',
    bonus: 0,
    instructionTemplate: 'USER PREFERENCE of ${user_id} for ${agent_id}: take it into account.',
  });
  const email = await remember(user, 'preferences', "0.99 Alexandra's email address: alexandra@example.org");
  await remember(user, 'facts', '0.9 The office is closed on Mondays.');
  await remember(user, 'preferences', '0.8 Default chat with Alexandra: #invoices');
  services.advance(30 * 86_400_000);
  await services.service.confirm(as(user), email);
  const filled = await services.service.context(as(user, { subject: { agentId: 'helper' } }), {
    query: 'Where do I send the invoice?',
    locale: 'de-DE',
    timeZone: 'Europe/Berlin',
  });
  expect(filled.text).toBe(
    [
      `USER PREFERENCE of ${user} for helper: take it into account.`,
      `--- MEMORY ENTRY (Stored on 2.5.2026, confirmed by the user on 1.6.2026, Namespace: vector.agent.${user}.preferences) ---`,
      "0.99 Alexandra's email address: alexandra@example.org",
      '',
      `--- MEMORY ENTRY (Stored on 2.5.2026, Namespace: vector.agent.${user}.preferences) ---`,
      '0.8 Default chat with Alexandra: #invoices',
      '',
      `--- MEMORY ENTRY (Stored on 2.5.2026, Namespace: vector.agent.${user}.facts) ---`,
      '0.9 The office is closed on Mondays.',
      '',
      NOTE,
    ].join('\n'),
  );
  const counter = await createTokenCounter();
  expect(filled.tokenCount).toBe(counter.count(filled.text));
  expect(filled.tokenizer).toBe('o200k_base');
  expect(filled.truncated).toBe(false);
});

describe('messages', () => {
  test('are the query by the last user message, and get the block at its end; everything else stays the same object', async () => {
    const user = newUser();
    await remember(user, 'notes', '0.9 tea');
    const messages = [
      { role: 'system', content: 'You help.' },
      { role: 'user', content: 'first question' },
      { role: 'assistant', content: 'first answer' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'the question' },
          { type: 'image', image: new Uint8Array(3) },
        ],
      },
    ];
    const filled = await services.service.context(as(user), { messages });
    expect(filled.trace.query).toBe('the question');
    expect(filled.messages?.slice(0, 3)).toEqual(messages.slice(0, 3));
    for (const index of [0, 1, 2]) expect(filled.messages?.[index]).toBe(messages[index]);
    expect(filled.messages?.[3]).toEqual({
      role: 'user',
      content: [...(messages[3]?.content ?? []), { type: 'text', text: filled.text }],
    });
  });

  test('E7: turn after turn what stands before the last one of the user is the same bytes, whatever the time', async () => {
    const user = newUser();
    await remember(user, 'notes', '0.9 tea');
    await remember(user, 'notes', '0.7 coffee');
    const first = {
      messages: [
        { role: 'system', content: 'You help.' },
        { role: 'user', content: 'tea?' },
      ],
    };
    const asked = await services.service.context(as(user), first);
    services.advance(40 * 86_400_000);
    const again = await services.service.context(as(user), first);
    expect(again.text).toBe(asked.text);
    expect(JSON.stringify(again.messages)).toBe(JSON.stringify(asked.messages));

    const turn = [
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'and coffee?' },
    ];
    const history = [...first.messages, ...turn];
    const next = await services.service.context(as(user), { messages: history });
    expect(JSON.stringify(next.messages?.slice(0, -1))).toBe(JSON.stringify(history.slice(0, -1)));
    expect(next.messages?.at(-1)?.content).toBe(`and coffee?\n\n${next.text}`);
    expect(next.text).toBe(asked.text);
  });

  test('with a query beside them are searched by the query', async () => {
    const user = newUser();
    await remember(user, 'notes', '0.9 tea');
    const messages = [{ role: 'user', content: 'and that one?' }];
    const filled = await services.service.context(as(user), { query: 'tea in Hamburg', messages });
    expect(filled.trace.query).toBe('tea in Hamburg');
    expect(filled.messages?.[0]?.content).toBe(`and that one?\n\n${filled.text}`);
  });

  test('are null in the answer where none were sent', async () => {
    const filled = await services.service.context(as(newUser()), { query: 'q' });
    expect(filled).toMatchObject({ messages: null, text: '', tokenCount: 0, included: [], truncated: false });
  });

  test.each<[string, ContextRequest, RegExp]>([
    ['neither a query nor messages', {}, /needs query/],
    ['no user message', { messages: [{ role: 'system', content: 'x' }] }, /no user message/],
    ['no user message, with a query', { query: 'q', messages: [] }, /no user message/],
    [
      'a user message without text',
      { messages: [{ role: 'user', content: [{ type: 'image' }] }] },
      /no text/,
    ],
  ])('are refused: %s', async (_, request, message) => {
    const refused = await rejection(services.service.context(as(newUser()), request));
    expect(refused.code).toBe('invalid_input');
    expect(refused.message).toMatch(message);
  });
});

describe('the budget', () => {
  test('keeps the best that fit, skips one that is too large, and the trace says which line cut it', async () => {
    const user = newUser();
    const best = await remember(user, 'notes', '0.99 short');
    const large = await remember(user, 'notes', `0.98 ${'many words of an essay '.repeat(200)}`);
    const small = await remember(user, 'notes', '0.97 small');
    const filled = await services.service.context(as(user), { query: 'q', tokenBudget: 200 });
    expect(filled.included).toEqual([best, small]);
    expect(filled.leftOut).toEqual([{ id: large, reason: 'token_budget', tokens: expect.any(Number) }]);
    expect(filled.leftOut[0]?.tokens).toBeGreaterThan(800);
    expect(filled.truncated).toBe(true);
    expect(filled.tokenCount).toBeLessThanOrEqual(200);

    const { trace } = await services.governance.getTrace(as(user), filled.trace.id);
    expect(trace.hits).toMatchObject([{ id: best }, { id: small }]);
    expect(trace.cut).toMatchObject([{ id: large, reason: 'token_budget' }]);
    expect(trace.cut_count).toBe(1);
  });

  test('is the request’s, else the policy’s, else 4000; 0 is a value', async () => {
    const user = newUser();
    await remember(user, 'notes', '0.9 tea');
    const agent = { kind: 'agent', id: `agent of ${user}` } as const;
    const context = as(user, { subject: { agentId: agent.id } });
    const budgetOf = async (request: Partial<ContextRequest> = {}) => {
      const { tokenBudget, included } = await services.service.context(context, { query: 'q', ...request });
      return [tokenBudget, included.length];
    };
    expect(await budgetOf()).toEqual([4000, 1]);
    await services.governance.putPolicy(asAdmin(), agent, {
      readNamespaces: ['vector.agent.*'],
      tokenBudget: 0,
    });
    expect(await budgetOf()).toEqual([0, 0]);
    expect(await budgetOf({ tokenBudget: 500 })).toEqual([500, 1]);
    await services.governance.putPolicy(asAdmin(), agent, {
      readNamespaces: ['vector.agent.*'],
      tokenBudget: 300,
    });
    expect(await budgetOf()).toEqual([300, 1]);
    expect(await budgetOf({ tokenBudget: 0 })).toEqual([0, 0]);
  });
});

test('the policy decides what is read and how it is ranked', async () => {
  const user = newUser();
  const open = await remember(user, 'open', '0.7 open');
  await remember(user, 'closed', '0.9 closed');
  const agent = { kind: 'agent', id: `agent of ${user}` } as const;
  await services.governance.putPolicy(asAdmin(), agent, {
    readNamespaces: ['vector.agent.${user_id}.open'],
    profile: 'weighted',
    topK: 3,
  });
  const filled = await services.service.context(as(user, { subject: { agentId: agent.id } }), { query: 'q' });
  expect(filled.included).toEqual([open]);
  expect(filled.trace.profile.name).toBe('weighted');
  expect(filled.trace.parameters.topK).toBe(3);
});

test('is audited as one read with auto_context, and moves no counter', async () => {
  const user = newUser();
  const id = await remember(user, 'notes', '0.9 tea');
  const before = await services.service.get(as(user), id);
  const { trace, tokenCount } = await services.service.context(
    as(user, { subject: { agentId: 'helper', chatId: 'c1' } }),
    { query: 'q', tokenBudget: 900 },
  );
  const reads = (await services.audit()).filter(
    ({ actorId, operation }) => actorId === user && operation === 'context',
  );
  expect(reads).toHaveLength(1);
  expect(reads[0]).toMatchObject({
    action: 'read',
    detail: {
      auto_context: true,
      agent_id: 'helper',
      chat_id: 'c1',
      hit_count: 1,
      top_k: 5,
      trace_id: trace.id,
      token_budget: 900,
      token_count: tokenCount,
    },
  });
  expect(await services.service.get(as(user), id)).toEqual(before);
});

test('another user’s entries are in no block', async () => {
  const [ada, bob] = [newUser(), newUser()];
  await remember(ada, 'notes', '0.9 Ada’s secret');
  const request = { query: 'q', namespaces: [`vector.agent.${ada}.*`, '*'] };
  expect((await services.service.context(as(bob), request)).text).not.toContain('secret');
  expect((await services.service.context(as(ada), request)).text).toContain('secret');
});

test('200 contexts at once over 1,000 candidates are the sequential ones, each within its budget', async () => {
  const user = newUser();
  const drafts = Array.from({ length: 1000 }, (_, index) => ({
    namespace: `vector.agent.${user}.n${index % 7}`,
    // Distinct similarities, so that the order is one and the same.
    content: `${(0.5 + index / 2500).toFixed(4)} entry ${index} ${'word '.repeat(index % 40)}`,
  }));
  for (let from = 0; from < drafts.length; from += 500) {
    await services.service.rememberMany(as(user), drafts.slice(from, from + 500));
  }
  const requests = Array.from({ length: 200 }, (_, index) => ({
    query: `question ${index}`,
    topK: 1 + (index % 50),
    tokenBudget: (index * 37) % 1500,
    // Both name all thousand.
    namespaces: index % 2 === 0 ? undefined : [`vector.agent.${user}.*`],
  }));
  const answer = async (request: ContextRequest) => {
    const { text, tokenCount, tokenBudget, included, leftOut, truncated } = await services.service.context(
      as(user),
      request,
    );
    return { text, tokenCount, tokenBudget, included, leftOut, truncated };
  };
  const sequential = [];
  for (const request of requests) sequential.push(await answer(request));
  const concurrent = await Promise.all(requests.map(answer));
  expect(concurrent).toEqual(sequential);
  const counter = await createTokenCounter();
  concurrent.forEach(({ text, tokenCount }, index) => {
    expect(tokenCount).toBe(counter.count(text));
    expect(tokenCount).toBeLessThanOrEqual(requests[index]?.tokenBudget ?? 0);
  });
  // Not vacuous: blocks are filled, and budgets cut.
  expect(sequential.filter(({ included }) => included.length > 5).length).toBeGreaterThan(50);
  expect(sequential.filter(({ truncated }) => truncated).length).toBeGreaterThan(50);
}, 300_000);

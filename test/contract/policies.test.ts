import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PolicyDraft } from '../../src/service/governance-service.ts';
import type { RecallResult } from '../../src/service/recall.ts';
import type { RequestContext } from '../../src/service/request-context.ts';
import { rejection } from '../helpers/refusal.ts';
import { as, asAdmin, openTestServices, operator, type TestServices } from '../helpers/test-services.ts';

/** SPEC section 8: what an agent's or a task's policy opens, limits and sets. Contents start with their similarity. */

let services: TestServices;

beforeAll(async () => {
  services = await openTestServices();
  for (const namespace of [
    'vector.user.ada.notes',
    'vector.user.ada.chats.c1',
    'vector.user.bob.notes',
    'vector.global.facts',
    'team.sales',
    'team.legal.deep',
  ]) {
    await services.service.remember(operator(), { namespace, content: `0.9 in ${namespace}` });
  }
});
afterAll(() => services.close());

/** Each test has agents of its own. */
let agentId: string;
let taskId: string;
let number = 0;
beforeEach(() => {
  number += 1;
  agentId = `agent-${number}`;
  taskId = `task-${number}`;
});

const put = (draft: PolicyDraft, kind: 'agent' | 'task' = 'agent') =>
  services.governance.putPolicy(asAdmin(), { kind, id: kind === 'agent' ? agentId : taskId }, draft);

const found = ({ hits }: RecallResult) => hits.map(({ entry }) => entry.namespace).sort();

describe('what is read', () => {
  test('without namespaces in the request: what the policy reads, its variables filled in', async () => {
    await put({ readNamespaces: ['vector.user.${user_id}.chats.${chat_id}', 'team.*'] });
    const ada = as('ada', { subject: { agentId, chatId: 'c1' } });
    expect(found(await services.service.recall(ada, { query: 'q' }))).toEqual([
      'team.legal.deep',
      'team.sales',
      'vector.user.ada.chats.c1',
    ]);
    const { entries } = await services.service.list(ada, {});
    expect(entries).toHaveLength(3);
    const reports = await services.governance.reportNamespaces(ada);
    expect(reports.map(({ path }) => path)).toEqual([
      'team.legal.deep',
      'team.sales',
      'vector.user.ada.chats.c1',
    ]);
  });

  test('a variable the request leaves unset is an error that names it', async () => {
    await put({ readNamespaces: ['vector.user.${user_id}.chats.${chat_id}'] });
    const refused = await rejection(
      services.service.recall(as('ada', { subject: { agentId } }), { query: 'q' }),
    );
    expect(refused.code).toBe('invalid_input');
    expect(refused.message).toMatch(/needs \$\{chat_id\}/);
    expect(refused.details[0]?.path).toBe('chat_id');
  });

  test('a value that is no single segment can’t widen a pattern', async () => {
    await put({ readNamespaces: ['vector.user.${user_id}.chats.${chat_id}'] });
    for (const chatId of ['*', 'c1.deep', '${user_id}', '']) {
      const context = as('ada', { subject: { agentId, chatId } });
      expect((await rejection(services.service.recall(context, {}))).code, chatId).toBe('invalid_input');
    }
  });

  test('the policy opens the tenant’s namespaces, never another user’s, and takes nothing of one’s own away', async () => {
    await put({ readNamespaces: ['team.sales', 'vector.user.*'] });
    const ada = as('ada', { subject: { agentId } });
    const named = (namespaces: string[]) => services.service.recall(ada, { query: 'q', namespaces });
    expect(found(await named(['team.*']))).toEqual(['team.sales']);
    expect(found(await named(['*']))).toEqual([
      'team.sales',
      'vector.global.facts',
      'vector.user.ada.chats.c1',
      'vector.user.ada.notes',
    ]);
    expect(found(await named(['vector.user.bob.*']))).toEqual([]);
    expect(found(await services.service.recall(as('ada'), { query: 'q', namespaces: ['team.*'] }))).toEqual(
      [],
    );
  });

  test('an empty list reads nothing where the request names nothing, and putting it warns', async () => {
    const { warnings } = await put({ topK: 3 });
    expect(warnings.map(({ code }) => code)).toEqual(['reads_nothing']);
    const ada = as('ada', { subject: { agentId } });
    expect(found(await services.service.recall(ada, { query: 'q' }))).toEqual([]);
    expect(
      found(await services.service.recall(ada, { query: 'q', namespaces: ['vector.user.ada.notes'] })),
    ).toEqual(['vector.user.ada.notes']);
  });

  test('an agent without a policy reads what its user may read', async () => {
    const ada = as('ada', { subject: { agentId } });
    expect(found(await services.service.recall(ada, { query: 'q' }))).toEqual([
      'vector.global.facts',
      'vector.user.ada.chats.c1',
      'vector.user.ada.notes',
    ]);
  });
});

test('a task’s policy replaces its agent’s whole: what it leaves out is not filled from the agent’s', async () => {
  await put({ readNamespaces: ['team.sales'], topK: 1, profile: 'weighted', allowToolWrite: true });
  await put({ readNamespaces: ['vector.global.*'] }, 'task');
  const subject = { agentId, taskId };
  const result = await services.service.recall(as('ada', { subject }), { query: 'q' });
  expect(found(result)).toEqual(['vector.global.facts']);
  expect(result.trace.profile.name).toBe('boosted');
  expect(result.trace.parameters.topK).toBe(5);
  const tool = as('ada', { subject, origin: 'tool_call' });
  const draft = { namespace: 'vector.user.ada.x', content: 'x' };
  expect((await rejection(services.service.remember(tool, draft))).code).toBe('forbidden');
  await services.governance.deletePolicy(asAdmin(), { kind: 'task', id: taskId });
  expect(found(await services.service.recall(as('ada', { subject }), { query: 'q' }))).toEqual([
    'team.sales',
  ]);
});

describe('numbers', () => {
  test('come from the request, else the policy, else the profile; 0 is a value', async () => {
    await put({
      readNamespaces: ['vector.global.*'],
      minScore: 0,
      relativeCutoff: 0,
      topK: 2,
      tokenBudget: 0,
    });
    const ada = as('ada', { subject: { agentId } });
    const { trace, tokenBudget } = await services.service.recall(ada, { query: 'q' });
    expect(trace.parameters).toEqual({ topK: 2, minScore: 0, relativeCutoff: 0 });
    expect(tokenBudget).toBe(0);
    const own = await services.service.recall(ada, { query: 'q', topK: 7, minScore: 0.1 });
    expect(own.trace.parameters).toEqual({ topK: 7, minScore: 0.1, relativeCutoff: 0 });
    const none = await services.service.recall(as('ada'), { query: 'q' });
    expect(none.trace.parameters).toEqual({ topK: 5, minScore: 0.4, relativeCutoff: 0.7 });
    expect(none.tokenBudget).toBeNull();
  });

  test('the profile: the request’s, the policy’s, the route’s, the server’s', async () => {
    await put({ readNamespaces: ['vector.global.*'], profile: 'weighted' });
    const nameOf = async (context: ReturnType<typeof as>, request: object) =>
      (await services.service.recall(context, { query: 'q', ...request })).trace.profile.name;
    const ada = as('ada', { subject: { agentId } });
    expect(await nameOf(ada, { profile: 'boosted' })).toBe('boosted');
    expect(await nameOf(ada, { defaultProfile: 'boosted' })).toBe('weighted');
    expect(await nameOf(as('ada'), { defaultProfile: 'weighted' })).toBe('weighted');
    expect(await nameOf(as('ada'), {})).toBe('boosted');
  });

  test('a relative cutoff of 0.8 and more is answered with a warning, when it is put and when it is used', async () => {
    const { warnings } = await put({ readNamespaces: ['vector.global.*'], relativeCutoff: 0.8 });
    expect(warnings.map(({ code }) => code)).toEqual(['risky_relative_cutoff']);
    const ada = as('ada', { subject: { agentId } });
    expect((await services.service.recall(ada, { query: 'q' })).warnings.map(({ code }) => code)).toEqual([
      'risky_relative_cutoff',
    ]);
    const cutoffOf = (relativeCutoff: number) =>
      services.service.recall(as('ada'), { query: 'q', relativeCutoff });
    expect((await cutoffOf(0.79)).warnings).toEqual([]);
    expect((await cutoffOf(0.8)).warnings).toHaveLength(1);
  });
});

describe('what is written', () => {
  test('goes to write_namespace where the draft names no namespace', async () => {
    await put({ writeNamespace: 'vector.agent.${user_id}.runs.${session_id}' });
    const context = as('ada', { subject: { agentId, sessionId: 's1' } });
    const { entry } = await services.service.remember(context, { content: 'a run' });
    expect(entry.namespace).toBe('vector.agent.ada.runs.s1');
    const [first, second] = await services.service.rememberMany(context, [
      { content: 'another' },
      { content: 'named', namespace: 'vector.user.ada.notes' },
    ]);
    expect(first?.entry.namespace).toBe('vector.agent.ada.runs.s1');
    expect(second?.entry.namespace).toBe('vector.user.ada.notes');
    const { successor } = await services.service.supersede(context, entry.id, {
      draft: { content: 'a newer run' },
    });
    expect(successor.namespace).toBe('vector.agent.ada.runs.s1');
  });

  test('has no place where neither says one', async () => {
    await put({});
    for (const context of [as('ada'), as('ada', { subject: { agentId } })]) {
      const refused = await rejection(services.service.remember(context, { content: 'x' }));
      expect(refused.code).toBe('invalid_input');
      expect(refused.details[0]?.path).toBe('namespace');
    }
  });

  test('outside one’s own only where the policy opens it, and in a batch the refusal names the item', async () => {
    await put({ allowedWriteNamespaces: ['team.sales', 'vector.global.${agent_id}.*', 'vector.user.*'] });
    const ada = as('ada', { subject: { agentId } });
    const write = (namespace: string) =>
      services.service.remember(ada, { namespace, content: `by ${agentId}` });
    expect((await write('team.sales')).operation).toBe('create');
    expect((await write(`vector.global.${agentId}.x`)).operation).toBe('create');
    for (const namespace of ['team.legal.deep', 'vector.global.facts', 'vector.user.bob.notes']) {
      const refused = await rejection(write(namespace));
      expect(refused.code, namespace).toBe('forbidden');
      expect(refused.details[0]).toMatchObject({ path: 'namespace', got: namespace });
    }
    const batch = await rejection(
      services.service.rememberMany(ada, [
        { namespace: 'vector.user.ada.batch', content: 'fine' },
        { namespace: 'team.legal.deep', content: 'not fine' },
      ]),
    );
    expect(batch.details[0]).toMatchObject({ path: 'memories[1].namespace', item: 1 });
    const { entries } = await services.service.list(as('ada'), { namespaces: ['vector.user.ada.batch'] });
    expect(entries, 'all or nothing').toEqual([]);
  });

  test('an entry of the tenant’s is changed under the policy that opens it for writing, and else not at all', async () => {
    const { entry } = await services.service.remember(operator(), {
      namespace: 'team.plans',
      content: agentId,
    });
    await put({ readNamespaces: ['team.plans'] });
    const ada = as('ada', { subject: { agentId } });
    const update = () => services.service.update(ada, entry.id, { importance: 1 });
    expect((await rejection(update())).code).toBe('forbidden');
    expect((await rejection(services.service.update(as('ada'), entry.id, { importance: 1 }))).code).toBe(
      'not_found',
    );
    await put({ readNamespaces: ['team.plans'], allowedWriteNamespaces: ['team.plans'] });
    expect((await update()).importance).toBe(1);
  });
});

describe('what nobody asked for in person', () => {
  const draft = { namespace: 'vector.user.ada.tools', content: 'by a tool' };

  test.each([
    ['tool_call', 'allowToolWrite', 'allow_tool_write'],
    ['automatic', 'allowWrite', 'allow_write'],
  ] as const)('a write by %s needs %s, and no other permission does', async (origin, field, name) => {
    const context = as('ada', { subject: { agentId }, origin });
    const write = () => services.service.remember(context, draft);
    expect((await rejection(write())).code, 'without a policy').toBe('forbidden');
    const others = { allowWrite: true, allowToolWrite: true, allowToolDelete: true, [field]: false };
    await put(others);
    const refused = await rejection(write());
    expect(refused.code).toBe('forbidden');
    expect(refused.details[0]?.hint).toContain(name);
    await put({ [field]: true });
    expect((await write()).entry.content).toBe('by a tool');
  });

  test('a tool deletes only with allow_tool_delete', async () => {
    const { entry } = await services.service.remember(as('ada'), { ...draft, content: agentId });
    const tool = as('ada', { subject: { agentId }, origin: 'tool_call' });
    await put({ allowWrite: true, allowToolWrite: true });
    expect((await rejection(services.service.forget(tool, entry.id))).code).toBe('forbidden');
    expect((await rejection(services.service.purge(tool, entry.id))).code).toBe('forbidden');
    expect((await services.service.get(as('ada'), entry.id)).deletedAt).toBeNull();
    await put({ allowToolDelete: true });
    expect((await services.service.forget(tool, entry.id)).deletedAt).not.toBeNull();
    await services.service.purge(tool, entry.id);
    expect((await rejection(services.service.get(as('ada'), entry.id))).code).toBe('not_found');
  });

  test('reading needs no permission, and a person’s own request neither', async () => {
    await put({ readNamespaces: ['vector.global.*'] });
    const tool = as('ada', { subject: { agentId }, origin: 'tool_call' });
    expect(found(await services.service.recall(tool, { query: 'q' }))).toEqual(['vector.global.facts']);
    const person = as('ada', { subject: { agentId } });
    expect((await services.service.remember(person, draft)).entry.content).toBe('by a tool');
  });
});

describe('the operator of the store, from whom nothing is kept,', () => {
  const write = (context: RequestContext, namespace: string) =>
    services.service.remember(context, { namespace, content: `${agentId} wrote this` });

  test('lends an agent’s tools what its policy opens, and no more', async () => {
    const tool = { ...operator(), subject: { agentId }, origin: 'tool_call' as const };
    const { entry } = await write(as('ada'), 'vector.user.ada.x');
    await put({
      readNamespaces: ['team.sales'],
      allowToolWrite: true,
      allowedWriteNamespaces: ['team.tools'],
    });
    expect(found(await services.service.recall(tool, { query: 'q', namespaces: ['*'] }))).toEqual([
      'team.sales',
      'vector.global.facts',
    ]);
    expect((await rejection(services.service.get(tool, entry.id))).code).toBe('not_found');
    expect((await write(tool, 'team.tools')).operation).toBe('create');
    expect((await write(tool, 'vector.user.local.notes')).operation, 'their own').toBe('create');
    expect((await rejection(write(tool, 'team.plans'))).code).toBe('forbidden');
    expect((await rejection(write(tool, 'vector.user.ada.x'))).code).toBe('forbidden');
  });

  test('asks for themselves as before, whatever agent they name', async () => {
    await put({ readNamespaces: ['team.sales'] });
    const themselves = { ...operator(), subject: { agentId } };
    expect((await write(themselves, 'team.plans')).operation).toBe('create');
    const { entries } = await services.service.list(themselves, { namespaces: ['vector.user.bob.*'] });
    expect(entries).toHaveLength(1);
  });
});

test('a changed policy holds for the very next request', async () => {
  const ada = as('ada', { subject: { agentId } });
  await put({ readNamespaces: ['team.sales'] });
  expect(found(await services.service.recall(ada, { query: 'q' }))).toEqual(['team.sales']);
  await put({ readNamespaces: ['vector.global.*'] });
  expect(found(await services.service.recall(ada, { query: 'q' }))).toEqual(['vector.global.facts']);
  expect(found(await services.service.recall(ada, { query: 'q', namespaces: ['team.*'] }))).toEqual([]);
});

describe('a policy that can not mean anything is refused:', () => {
  test.each<[string, PolicyDraft, RegExp]>([
    ['half a wildcard', { readNamespaces: ['vec*'] }, /read_namespaces\[0\]/],
    ['too many patterns', { readNamespaces: Array.from({ length: 65 }, (_, i) => `n${i}`) }, /65 patterns/],
    ['a wildcard to write to', { writeNamespace: 'team.*' }, /write_namespace/],
    ['an unknown variable to write to', { writeNamespace: 'team.${topic}' }, /write_namespace/],
    ['top_k 0', { topK: 0 }, /top_k/],
    ['top_k 201', { topK: 201 }, /top_k/],
    ['a negative min_score', { minScore: -0.1 }, /min_score/],
    ['a cutoff above 1', { relativeCutoff: 1.1 }, /relative_cutoff/],
    ['a budget of half a token', { tokenBudget: 0.5 }, /token_budget/],
    ['an unknown profile', { profile: 'no such' }, /no ranking profile "no such"/],
  ])('%s', async (_, draft, message) => {
    const refused = await rejection(put(draft));
    expect(refused.code).toBe('invalid_input');
    expect(refused.message).toMatch(message);
  });

  test('and nothing is kept of it', async () => {
    await rejection(put({ topK: 0 }));
    const missing = services.governance.getPolicy(asAdmin(), { kind: 'agent', id: agentId });
    expect((await rejection(missing)).code).toBe('not_found');
  });
});

test('policies of one tenant are not another’s', async () => {
  await put({ readNamespaces: ['team.*'], topK: 1 });
  const stranger = as('ada', { subject: { agentId }, tenantId: 'other' });
  expect((await services.service.recall(stranger, { query: 'q' })).trace.parameters.topK).toBe(5);
  expect(await services.governance.listPolicies(stranger)).toEqual([]);
});

test('a token bound to an agent acts for it where the request names none, and for no other', async () => {
  await put({ readNamespaces: ['team.sales'] });
  const bound = (subject?: { agentId: string }) => as('ada', { agentId, ...(subject ? { subject } : {}) });
  expect(found(await services.service.recall(bound(), { query: 'q' }))).toEqual(['team.sales']);
  const refused = await rejection(services.service.recall(bound({ agentId: 'another' }), { query: 'q' }));
  expect(refused.code).toBe('forbidden');
  expect(refused.details[0]).toMatchObject({ path: 'agent_id', allowed: agentId });
});

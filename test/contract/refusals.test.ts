import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { memoryPatchSchema } from '../../src/contract/memory-patch.ts';
import { parseContract } from '../../src/contract/parse-contract.ts';
import { recallRequestSchema } from '../../src/contract/recall-request.ts';
import type { AuditRecord } from '../../src/core/governance.ts';
import type { RequestContext } from '../../src/service/request-context.ts';
import { refusal, rejection } from '../helpers/refusal.ts';
import { as, asAdmin, openTestServices, TENANT, type TestServices } from '../helpers/test-services.ts';

/**
 * SPEC sections 3, 9 and 11: whoever tries what is not theirs hears what they would hear of nothing, and the audit
 * has it. Each test has users of its own.
 */

let services: TestServices;
let number = 0;
let bob: string;
let eve: string;

beforeAll(async () => {
  services = await openTestServices();
});
afterAll(() => services.close());
beforeEach(() => {
  number += 1;
  bob = `bob-${number}`;
  eve = `eve-${number}`;
});

/** An entry of Bob's, and the trace of a search in which he saw it. */
async function bobsEntry() {
  const { entry } = await services.service.remember(as(bob), {
    namespace: `vector.user.${bob}.notes`,
    content: `0.9 secret of ${bob}`,
  });
  const { trace } = await services.service.recall(as(bob), { query: 'q' });
  return { id: entry.id, traceId: trace.id };
}

const shown = ({ operation, memoryId, namespace, detail }: AuditRecord) => ({
  operation,
  memoryId,
  namespace,
  reason: detail.reason,
});

/** Every use case that takes the id of an entry. */
function byId(context: RequestContext, id: string): [operation: string, call: () => Promise<unknown>][] {
  const { service, governance } = services;
  const own = { draft: { namespace: `vector.user.${eve}.n`, content: 'mine' } };
  return [
    ['get', () => service.get(context, id)],
    ['history', () => service.history(context, id)],
    ['update', () => service.update(context, id, { importance: 1 })],
    ['confirm', () => service.confirm(context, id)],
    ['unconfirm', () => service.unconfirm(context, id)],
    ['supersede', () => service.supersede(context, id, own)],
    ['forget', () => service.forget(context, id)],
    ['restore', () => service.restore(context, id)],
    ['purge', () => service.purge(context, id)],
    ['feedback', () => service.feedback(context, { memoryId: id, signal: 'useful', traceId: uuidv7() })],
    ['feedback_summary', () => governance.feedbackSummary(context, id)],
  ];
}

describe('A9: a foreign id', () => {
  test('answers like an unknown one in every use case, and each try is in the audit with its namespace', async () => {
    const { id } = await bobsEntry();
    const unknown = uuidv7();
    for (const [operation, call] of byId(as(eve), id)) {
      const refused = await rejection(call());
      expect(refused.code, operation).toBe('not_found');
      const nothing = byId(as(eve), unknown).find(([name]) => name === operation);
      const missing = await rejection(nothing?.[1]() ?? Promise.resolve());
      expect(refused.message.replace(id, '…'), operation).toBe(missing.message.replace(unknown, '…'));
    }
    const warnings = await services.warningsOf(eve);
    const operations = byId(as(eve), id).map(([operation]) => operation);
    const known = warnings.filter(({ memoryId }) => memoryId === id);
    expect(known.map(({ operation }) => operation).sort()).toEqual([...operations].sort());
    for (const warning of known) {
      expect(warning.namespace).toBe(`vector.user.${bob}.notes`);
      expect(warning.detail).toMatchObject({ is_known: true, reason: 'not_found' });
      expect(warning.occurredAt).toEqual(new Date(services.now()));
    }
    const others = warnings.filter(({ memoryId }) => memoryId === unknown);
    expect(others).toHaveLength(operations.length);
    expect(others[0]).toMatchObject({ namespace: null, detail: { is_known: false } });
  });

  test('was not touched by any of it', async () => {
    const { id } = await bobsEntry();
    const before = await services.service.get(as(bob), id);
    for (const [, call] of byId(as(eve), id)) await rejection(call());
    expect(await services.service.get(as(bob), id)).toEqual(before);
    expect(await services.governance.feedbackSummary(as(bob), id)).toEqual({
      accessed: 0,
      useful: 0,
      not_useful: 0,
      wrong: 0,
    });
  });

  test('of another tenant says nothing of where it is', async () => {
    const { id } = await bobsEntry();
    const stranger = as(eve, { tenantId: 'other' });
    expect((await rejection(services.service.get(stranger, id))).code).toBe('not_found');
    const [warning] = await services.audit('other');
    expect(warning).toMatchObject({
      action: 'warning',
      memoryId: id,
      namespace: null,
      detail: { is_known: false },
    });
    expect(await services.warningsOf(eve)).toEqual([]);
  });

  test('as the successor of one’s own entry is refused, and the foreign one is named', async () => {
    const { id } = await bobsEntry();
    const own = await services.service.remember(as(eve), { namespace: `vector.user.${eve}.n`, content: 'x' });
    const refused = await rejection(services.service.supersede(as(eve), own.entry.id, { id }));
    expect(refused.code).toBe('not_found');
    expect((await services.warningsOf(eve)).map(shown)).toEqual([
      {
        operation: 'supersede',
        memoryId: id,
        namespace: `vector.user.${bob}.notes`,
        reason: 'not_found',
      },
    ]);
  });

  test('that is no id can’t be anybody’s, and leaves nothing', async () => {
    for (const id of ['nonsense', '', `${uuidv7()}0`, '../../etc/passwd']) {
      expect((await rejection(services.service.get(as(eve), id))).code).toBe('not_found');
    }
    expect(await services.warningsOf(eve)).toEqual([]);
  });
});

describe('a foreign trace', () => {
  test('can’t be read', async () => {
    const { traceId } = await bobsEntry();
    expect((await rejection(services.governance.getTrace(as(eve), traceId))).code).toBe('not_found');
    const [warning] = await services.warningsOf(eve);
    expect(warning).toMatchObject({
      operation: 'get_trace',
      detail: { trace_id: traceId, is_known: true },
    });
    expect((await services.governance.getTrace(as(bob), traceId)).query).toBe('q');
  });

  test('can’t be used to give feedback: the signal would count as its owner’s', async () => {
    const { entry } = await services.service.remember(as(eve), {
      namespace: `vector.user.${eve}.n`,
      content: '0.9 mine',
    });
    const { traceId } = await bobsEntry();
    await services.flush();
    const signal = { memoryId: entry.id, signal: 'useful', traceId } as const;
    const refused = await rejection(services.service.feedback(as(eve), signal));
    expect(refused.code).toBe('not_found');
    expect((await services.service.get(as(eve), entry.id)).accessCount).toBe(0);
    expect((await services.warningsOf(eve))[0]).toMatchObject({
      operation: 'feedback',
      detail: { trace_id: traceId, is_known: true },
    });
  });

  test('is in nobody else’s list', async () => {
    const { traceId } = await bobsEntry();
    const { items } = await services.governance.listTraces(as(eve), {});
    expect(items.map(({ id }) => id)).not.toContain(traceId);
    expect((await services.governance.listTraces(as(eve), { userId: bob })).items).toEqual([]);
  });
});

describe('a foreign namespace', () => {
  test('named in a scope finds nothing, in every use case that takes one, and is in the audit', async () => {
    await bobsEntry();
    const { service, governance } = services;
    const scope = [`vector.user.${bob}.notes`, `vector.agent.${bob}.*`, 'team.secret'];
    expect((await service.recall(as(eve), { query: 'q', namespaces: scope })).hits).toEqual([]);
    expect((await service.list(as(eve), { namespaces: scope })).entries).toEqual([]);
    expect(await governance.reportNamespaces(as(eve), { scope })).toEqual([]);
    expect((await governance.stats(as(eve), { scope })).totalCount).toBe(0);
    for await (const _ of service.exportEntries(as(eve), { namespaces: scope })) {
      expect.unreachable('an export of what is not hers');
    }
    const warnings = await services.warningsOf(eve);
    for (const operation of ['recall', 'list', 'report_namespaces', 'stats']) {
      const named = warnings.filter((warning) => warning.operation === operation);
      // An export reads by pages of a list.
      const times = operation === 'list' ? 2 : 1;
      expect(named.map(({ namespace }) => namespace).sort(), operation).toEqual(
        scope.flatMap((pattern) => Array.from({ length: times }, () => pattern)).sort(),
      );
    }
  });

  test('is not one’s own, a global one, or a pattern that reaches them', async () => {
    const scope = [
      `vector.user.${eve}.*`,
      `vector.agent.${eve}`,
      'vector.global.*',
      'vector.*',
      '*',
      'vector.user.*',
      'vector.user.${id}.notes',
    ];
    await services.service.recall(as(eve), { query: 'q', namespaces: scope });
    expect(await services.warningsOf(eve)).toEqual([]);
  });

  test('can’t be written to, and the audit has which', async () => {
    for (const namespace of [`vector.user.${bob}.notes`, 'vector.global.facts', 'team.secret']) {
      const refused = await rejection(services.service.remember(as(eve), { namespace, content: 'x' }));
      expect(refused.code).toBe('forbidden');
    }
    const warnings = await services.warningsOf(eve);
    expect(warnings.map(({ operation, namespace }) => [operation, namespace]).sort()).toEqual([
      ['remember', 'team.secret'],
      ['remember', 'vector.global.facts'],
      ['remember', `vector.user.${bob}.notes`],
    ]);
  });
});

test('A5: identity in a patch or in metadata changes nothing about whose an entry is', async () => {
  const { service } = services;
  const namespace = `vector.user.${eve}.n`;
  const { entry } = await service.remember(as(eve), { namespace, content: '0.9 hers' });
  const metadata = { user_id: bob, owner_id: bob, tenant_id: 'other', namespace: `vector.user.${bob}.n` };
  const patch = parseContract(memoryPatchSchema, { metadata });
  const updated = await service.update(as(eve), entry.id, patch);
  expect(updated).toMatchObject({ metadata, namespace, ownerId: eve, tenantId: TENANT, createdBy: eve });
  expect((await rejection(service.get(as(bob), entry.id))).code).toBe('not_found');
  for (const field of ['user_id', 'owner_id', 'tenant_id', 'namespace']) {
    expect(refusal(() => parseContract(memoryPatchSchema, { [field]: bob })).code).toBe('invalid_input');
  }
});

test('A7, A11: a search can’t say who asks, nor misspell what it searches', () => {
  for (const request of [
    { query: 'q', user_id: 'bob' },
    { query: 'q', filter: { user_id: 'bob' } },
    { query: 'q', filter: { namespace: 'x' } },
    { query: 'q', namespaces_: ['x'] },
    { query: 'q', tenant_id: 'other' },
  ]) {
    expect(refusal(() => parseContract(recallRequestSchema, request)).code, JSON.stringify(request)).toBe(
      'invalid_input',
    );
  }
});

test('A11: the same words in two users’ memories, and each finds their own', async () => {
  const found = async (user: string, metadata?: object) => {
    const namespace = `vector.user.${user}.n`;
    await services.service.remember(as(user), {
      namespace,
      content: '0.9 the same',
      metadata: { user_id: bob },
    });
    const filter = parseContract(recallRequestSchema, { filter: { metadata } }).filter;
    const { hits } = await services.service.recall(as(user), { query: 'q', filter });
    return hits.map(({ entry }) => entry.namespace);
  };
  expect(await found(bob)).toEqual([`vector.user.${bob}.n`]);
  expect(await found(eve)).toEqual([`vector.user.${eve}.n`]);
  expect(await found(eve, { user_id: bob })).toEqual([`vector.user.${eve}.n`]);
});

describe('G16: what governs the tenant', () => {
  const RULE = { pattern: 'vector.global.*', bonus: 0.1 };
  const PROFILE = {
    kind: 'boosted',
    name: 'strict',
    recencyDecay: 0,
    minScore: 0.6,
    relativeCutoff: 0,
    topK: 3,
  } as const;
  const AGENT = { kind: 'agent', id: 'a' } as const;

  /** Every use case of an administrator. */
  function governing(context: RequestContext): [operation: string, call: () => Promise<unknown>][] {
    const { service, governance } = services;
    const first = async (stream: AsyncGenerator<unknown>) => (await stream.next()).value;
    return [
      ['put_rule', () => service.putRule(context, RULE)],
      ['delete_rule', () => service.deleteRule(context, RULE.pattern)],
      ['create_key', () => governance.createKey(context, { userId: eve, name: 'k', scopes: ['admin'] })],
      ['put_policy', () => governance.putPolicy(context, AGENT, {})],
      ['delete_policy', () => governance.deletePolicy(context, AGENT)],
      ['put_profile', () => governance.putProfile(context, PROFILE)],
      ['delete_profile', () => governance.deleteProfile(context, 'strict')],
      ['preview_rule', () => governance.previewRule(context, RULE)],
      ['list_audit', () => governance.listAudit(context)],
      ['export_audit', () => first(governance.exportAudit(context))],
    ];
  }

  test('is refused to everybody else, changes nothing, and is in the audit', async () => {
    const context = as(eve);
    for (const [operation, call] of governing(context)) {
      const refused = await rejection(call());
      expect(refused.code, operation).toBe('forbidden');
      expect(refused.message, operation).toMatch(/lacks the scope "admin"/);
    }
    const operations = (await services.warningsOf(eve)).map(({ operation }) => operation);
    expect(operations.sort()).toEqual(
      governing(context)
        .map(([operation]) => operation)
        .sort(),
    );
    expect(await services.service.listRules(context)).toEqual([]);
    expect(await services.governance.listKeys(context)).toEqual([]);
    expect(await services.governance.listPolicies(context)).toEqual([]);
    expect((await services.governance.listProfiles(context)).map(({ profile }) => profile.name)).toEqual([
      'boosted',
      'weighted',
    ]);
  });

  test('is not refused to an administrator', async () => {
    for (const [, call] of governing(asAdmin())) await call();
    expect(await services.warningsOf('root')).toEqual([]);
  });
});

describe('a credential', () => {
  test.each([
    ['read', ['recall', 'get', 'list']],
    ['write', ['remember', 'update']],
    ['feedback', ['feedback']],
  ] as const)('with the scope %s is good for that alone', async (scope, allowed) => {
    const { id, traceId } = await bobsEntry();
    const context = as(bob, { scopes: [scope] });
    const { service } = services;
    const calls: [string, () => Promise<unknown>][] = [
      ['recall', () => service.recall(context, {})],
      ['get', () => service.get(context, id)],
      ['list', () => service.list(context, {})],
      ['remember', () => service.remember(context, { namespace: `vector.user.${bob}.n`, content: 'x' })],
      ['update', () => service.update(context, id, { importance: 0 })],
      ['feedback', () => service.feedback(context, { memoryId: id, signal: 'useful', traceId })],
    ];
    const refused: string[] = [];
    for (const [operation, call] of calls) {
      const error = await call().then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error === null) continue;
      expect(error).toMatchObject({ code: 'forbidden', details: [{ path: 'scopes', got: [scope] }] });
      refused.push(operation);
    }
    const expected = calls
      .map(([operation]) => operation)
      .filter((name) => !allowed.some((one) => one === name));
    expect(refused).toEqual(expected);
    const warned = (await services.warningsOf(bob)).map(({ operation }) => operation);
    expect(warned.sort()).toEqual([...expected].sort());
  });

  test('with the scope admin reads no memories by it', async () => {
    const governor = as(bob, { scopes: ['admin'] });
    expect((await rejection(services.service.recall(governor, {}))).code).toBe('forbidden');
    await services.governance.listAudit(governor);
  });

  test('sees and revokes its user’s keys, whatever its scopes, and no others', async () => {
    const make = (userId: string) =>
      services.governance.createKey(asAdmin(), { userId, name: 'k', scopes: ['read'] });
    const [own, foreign] = [await make(bob), await make(eve)];
    const context = as(bob, { scopes: ['feedback'] });
    expect((await services.governance.listKeys(context)).map(({ id }) => id)).toEqual([own.key.id]);
    expect((await rejection(services.governance.revokeKey(context, foreign.key.id))).code).toBe('not_found');
    expect((await services.governance.revokeKey(context, own.key.id)).revokedAt).toEqual(
      new Date(services.now()),
    );
    expect((await services.warningsOf(bob))[0]).toMatchObject({
      operation: 'revoke_key',
      detail: { key_id: foreign.key.id },
    });
  });
});

test('a refusal names the agent, the tool and the request it came by', async () => {
  const { id } = await bobsEntry();
  const subject = { agentId: 'a', taskId: 't', chatId: 'c', sessionId: 's' };
  const context = as(eve, { subject, origin: 'tool_call', detail: { request_id: 'r' } });
  await rejection(services.service.get(context, id));
  expect((await services.warningsOf(eve))[0]?.detail).toMatchObject({
    agent_id: 'a',
    task_id: 't',
    chat_id: 'c',
    session_id: 's',
    tool_call: true,
    request_id: 'r',
  });
});

test('an id of an agent that can’t be stored is refused, not left in the audit', async () => {
  for (const agentId of ['', ' ', 'a\0b', 'x'.repeat(129), '\ud800']) {
    const refused = await rejection(services.service.recall(as(eve, { subject: { agentId } }), {}));
    expect(refused.code).toBe('invalid_input');
    expect(refused.details[0]?.path).toBe('agent_id');
  }
});

test('a refusal that can’t be written takes no other of its asker with it', async () => {
  const { id } = await bobsEntry();
  // NUL can't be stored.
  const spoilt = as(eve, { detail: { request_id: 'a\0b' } });
  services.governance.recordRefusal(spoilt, { operation: 'spoilt', reason: 'to hide what follows' });
  expect((await rejection(services.service.get(as(eve), id))).code).toBe('not_found');
  services.governance.recordRefusal(spoilt, { operation: 'spoilt', reason: 'to hide what came before' });
  const warnings = await services.warningsOf(eve);
  expect(warnings.map(({ operation, memoryId }) => [operation, memoryId])).toEqual([['get', id]]);
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rejection } from '../helpers/refusal.ts';
import { as, asAdmin, openTestServices, operator, type TestServices } from '../helpers/test-services.ts';

/** SPEC section 9: what can be looked up afterwards, by whom, and for how long. */

const DAY_MS = 86_400_000;

let services: TestServices;
let number = 0;
let ada: string;

beforeAll(async () => {
  services = await openTestServices();
});
afterAll(() => services.close());
beforeEach(() => {
  number += 1;
  ada = `ada-${number}`;
});

const remember = async (userId: string, content: string) =>
  (
    await services.service.remember(as(userId), {
      namespace: `vector.user.${userId}.notes`,
      content,
    })
  ).entry;

const recordsOf = async (actorId: string) =>
  (await services.audit()).filter((record) => record.actorId === actorId);

describe('a ranked read', () => {
  test('leaves its trace, whose factors add up to every score, and a record that names it', async () => {
    const entry = await remember(ada, '0.9 tea');
    await remember(ada, '0.2 cut by the floor');
    const context = as(ada, { subject: { agentId: 'a' }, origin: 'automatic' });
    const result = await services.service.recall(context, { query: 'what to drink', topK: 3 });
    const stored = await services.governance.getTrace(as(ada), result.trace.id);
    expect(stored).toMatchObject({
      id: result.trace.id,
      userId: ada,
      createdAt: new Date(services.now()),
      query: 'what to drink',
      isQueryHidden: false,
    });
    expect(stored.trace).toMatchObject({
      id: result.trace.id,
      query: 'what to drink',
      profile: { name: 'boosted', recency_decay: 0.05 },
      parameters: { top_k: 3, min_score: 0.4, relative_cutoff: 0.7 },
      namespaces: [`vector.user.${ada}.notes`],
      hits: [{ id: entry.id, namespace: entry.namespace }],
      cut: [{ reason: 'min_score', threshold: 0.4 }],
      exact: true,
      embedding_model_id: 'test-chosen-similarity',
    });
    const scored = [stored.trace.hits, stored.trace.cut].flat() as {
      score: number;
      breakdown: { factors: { contribution: number }[] };
    }[];
    expect(scored).toHaveLength(2);
    for (const { score, breakdown } of scored) {
      const sum = breakdown.factors.reduce((total, { contribution }) => total + contribution, 0);
      expect(Math.abs(sum - score)).toBeLessThan(1e-9);
    }
    const [record] = (await recordsOf(ada)).filter(({ action }) => action === 'read');
    expect(record).toMatchObject({
      operation: 'recall',
      memoryId: null,
      detail: {
        hit_count: 1,
        top_k: 3,
        trace_id: result.trace.id,
        auto_context: true,
        agent_id: 'a',
      },
    });
  });

  test('keeps no content: not of a hit, not of what was cut', async () => {
    await remember(ada, '0.9 a word like xylophone');
    await remember(ada, '0.1 a word like marzipan');
    const { trace } = await services.service.recall(as(ada), { query: 'q' });
    const kept = JSON.stringify(await services.governance.getTrace(as(ada), trace.id));
    expect(kept).not.toContain('xylophone');
    expect(kept).not.toContain('marzipan');
  });

  test('can be looked up at once, although it is written behind the answer', async () => {
    const ids: string[] = [];
    for (let search = 0; search < 5; search += 1) {
      ids.push((await services.service.recall(as(ada), { query: `q${search}` })).trace.id);
    }
    const { items } = await services.governance.listTraces(as(ada), {});
    expect(items.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(items.map(({ query }) => query).sort()).toEqual(['q0', 'q1', 'q2', 'q3', 'q4']);
  });
});

test('every other read is on the record too, with what it read', async () => {
  const entry = await remember(ada, '0.9 tea');
  await services.service.get(as(ada, { origin: 'tool_call' }), entry.id);
  await services.service.history(as(ada), entry.id);
  await services.service.list(as(ada), {});
  const reads = (await recordsOf(ada)).filter(({ action }) => action === 'read');
  expect(reads.map(({ operation }) => operation).sort()).toEqual(['get', 'history', 'list']);
  const [get] = reads.filter(({ operation }) => operation === 'get');
  expect(get).toMatchObject({
    memoryId: entry.id,
    namespace: entry.namespace,
    detail: { tool_call: true },
  });
});

test('reading moves no counter, however often it is recorded', async () => {
  const { id } = await remember(ada, '0.9 tea');
  const before = await services.service.get(as(ada), id);
  for (let search = 0; search < 20; search += 1) await services.service.recall(as(ada), { query: 'q' });
  await services.flush();
  expect(await services.service.get(as(ada), id)).toEqual(before);
});

describe('the audit', () => {
  test('is filtered by action, actor, entry, namespace and time, and exported whole', async () => {
    const entry = await remember(ada, '0.9 tea');
    const before = services.now();
    services.advance(1000);
    await services.service.confirm(as(ada), entry.id);
    services.advance(1);
    await services.service.forget(as(ada), entry.id);
    const list = async (request: object) =>
      (await services.governance.listAudit(asAdmin(), { actorId: ada, ...request })).items.map(
        ({ action, operation }) => operation ?? action,
      );
    expect(await list({})).toEqual(['forget', 'status', 'create']);
    expect(await list({ actions: ['status'] })).toEqual(['status']);
    expect(await list({ memoryId: entry.id, actions: ['write', 'delete'] })).toEqual(['forget', 'create']);
    expect(await list({ scope: [`vector.user.${ada}.*`] })).toHaveLength(3);
    expect(await list({ scope: ['vector.user.nobody.*'] })).toEqual([]);
    expect(await list({ from: new Date(before + 1) })).toEqual(['forget', 'status']);
    expect(await list({ until: new Date(before + 1) })).toEqual(['create']);
    const exported: unknown[] = [];
    for await (const record of services.governance.exportAudit(asAdmin(), { actorId: ada })) {
      exported.push(record.operation ?? record.action);
    }
    expect(exported).toEqual(['forget', 'status', 'create']);
  });

  test('is read page by page without repeating or skipping a record', async () => {
    for (let index = 0; index < 7; index += 1) await remember(ada, `note ${index}`);
    const seen: string[] = [];
    let after = null;
    do {
      const page = await services.governance.listAudit(asAdmin(), { actorId: ada, limit: 3, after });
      seen.push(...page.items.map(({ id }) => id));
      after = page.next;
    } while (after !== null);
    expect(seen).toHaveLength(7);
    expect(new Set(seen).size).toBe(7);
  });
});

describe('an administrator', () => {
  const root = asAdmin();

  test('reads a user’s private entries by no way unless that user allows it, and each try is a warning', async () => {
    const { service } = services;
    const entry = await remember(ada, '0.9 private');
    const scope = [`vector.user.${ada}.*`];
    expect((await rejection(service.get(root, entry.id))).code).toBe('not_found');
    expect((await service.recall(root, { query: 'q', namespaces: scope })).hits).toEqual([]);
    expect((await service.list(root, { namespaces: scope })).entries).toEqual([]);
    const mine = (await services.warningsOf('root')).filter(
      ({ namespace }) => namespace === scope[0] || namespace === entry.namespace,
    );
    expect(mine.map(({ operation }) => operation).sort()).toEqual(['get', 'list', 'recall']);
  });

  test('reads them where the user allows it, on the record, until the user changes their mind', async () => {
    const { service, governance } = services;
    const entry = await remember(ada, '0.9 private');
    const namespaces = [`vector.user.${ada}.*`];
    await governance.setAllowAdminMemory(as(ada), true);
    expect((await governance.userSettings(as(ada))).allowAdminMemory).toBe(true);
    expect((await service.get(root, entry.id)).content).toBe('0.9 private');
    const { hits, trace } = await service.recall(root, { query: 'q', namespaces });
    expect(hits.map((hit) => hit.entry.id)).toEqual([entry.id]);
    expect((await service.list(root, { namespaces })).entries).toHaveLength(1);
    expect((await service.history(root, entry.id)).entries).toHaveLength(1);
    const given = { memoryId: entry.id, signal: 'not_useful', traceId: trace.id } as const;
    await service.feedback(root, given);
    expect((await governance.stats(root, { scope: namespaces })).totalCount).toBe(1);
    expect(await governance.reportNamespaces(root, { scope: namespaces })).toHaveLength(1);
    expect((await governance.feedbackSummary(root, entry.id)).not_useful).toBe(1);
    const preview = { pattern: 'vector.user.*', query: 'q', namespaces };
    expect((await governance.previewRule(root, preview)).ranking?.before).toHaveLength(1);
    const reads = (await recordsOf('root')).filter(
      ({ action, detail }) => action === 'read' && JSON.stringify(detail.owner_ids) === `["${ada}"]`,
    );
    expect(reads.map(({ operation }) => operation).sort()).toEqual([
      'feedback',
      'feedback_summary',
      'get',
      'history',
      'list',
      'preview_rule',
      'recall',
      'report_namespaces',
      'stats',
    ]);
    for (const { detail } of reads) expect(detail.admin_actor_id).toBe('root');
    const warned = (await services.warningsOf('root')).filter(({ namespace }) =>
      namespace?.startsWith(`vector.user.${ada}.`),
    );
    expect(warned, 'what is allowed is no refusal').toEqual([]);

    await governance.setAllowAdminMemory(as(ada), false);
    expect((await rejection(service.get(root, entry.id))).code).toBe('not_found');
  });

  test('does not meet them in passing: a search that names nothing keeps to the administrator’s own', async () => {
    await remember(ada, '0.9 private');
    await services.governance.setAllowAdminMemory(as(ada), true);
    const { hits } = await services.service.recall(root, { query: 'q', topK: 200 });
    expect(hits.filter(({ entry }) => entry.ownerId === ada)).toEqual([]);
    const { entries } = await services.service.list(root, { limit: 500 });
    expect(entries.filter(({ ownerId }) => ownerId === ada)).toEqual([]);
  });

  test('ranks nothing to see what a rule would do with a credential that only governs', async () => {
    const governs = asAdmin({ scopes: ['admin'] });
    const refused = await rejection(services.governance.previewRule(governs, { pattern: '*', query: 'q' }));
    expect(refused.code).toBe('forbidden');
    expect(refused.details[0]?.allowed).toBe('read');
    expect((await services.warningsOf('root')).map(({ operation }) => operation)).toContain('preview_rule');
  });

  test('looks up what is their own and leaves nothing', async () => {
    const { governance } = services;
    const before = (await services.audit()).length;
    await governance.stats(root);
    await governance.reportNamespaces(root);
    await governance.previewRule(root, { pattern: 'vector.user.*', query: 'q' });
    expect((await services.audit()).length).toBe(before);
  });

  test('may not change them, consent or not', async () => {
    const entry = await remember(ada, '0.9 private');
    await services.governance.setAllowAdminMemory(as(ada), true);
    expect((await rejection(services.service.update(root, entry.id, { importance: 1 }))).code).toBe(
      'forbidden',
    );
    expect((await rejection(services.service.purge(root, entry.id))).code).toBe('forbidden');
  });

  test('sees how a user’s result came about, and what was asked only where the user allows it', async () => {
    const { governance, service } = services;
    await remember(ada, '0.9 tea');
    const { trace } = await service.recall(as(ada), { query: 'a private question' });
    const hidden = await governance.getTrace(root, trace.id);
    expect(hidden).toMatchObject({ userId: ada, query: null, isQueryHidden: true });
    expect(hidden.trace.hits).toHaveLength(1);
    expect(JSON.stringify(hidden)).not.toContain('a private question');
    await governance.setAllowAdminMemory(as(ada), true);
    expect((await governance.getTrace(root, trace.id)).query).toBe('a private question');
    const { items } = await governance.listTraces(root, { userId: ada });
    expect(items.map(({ query }) => query)).toEqual(['a private question']);
    const reads = (await recordsOf('root')).filter(({ detail }) =>
      JSON.stringify(detail.owner_ids ?? []).includes(ada),
    );
    expect(reads.map(({ operation }) => operation).sort()).toEqual(['get_trace', 'get_trace', 'list_traces']);
  });

  test('whose reading can’t be recorded does not read', async () => {
    const entry = await remember(ada, '0.9 private');
    await services.governance.setAllowAdminMemory(as(ada), true);
    // NUL can't be stored, so the record of this read can't be written.
    const context = asAdmin({ detail: { request_id: 'a\0b' } });
    await expect(services.service.get(context, entry.id)).rejects.toThrow();
  });
});

describe('retention', () => {
  test('removes what is older than it says and keeps the rest, in every tenant', async () => {
    await remember(ada, '0.9 tea');
    const old = await services.service.recall(as(ada), { query: 'old' });
    await services.flush();
    const start = services.now();
    services.advance(30 * DAY_MS);
    await services.governance.runUpkeep();
    expect((await services.governance.getTrace(as(ada), old.trace.id)).query, 'thirty days are kept').toBe(
      'old',
    );
    const fresh = await services.service.recall(as(ada), { query: 'fresh' });
    await services.flush();
    services.advance(1);
    const gone = await services.governance.runUpkeep();
    expect(gone.traces).toBeGreaterThan(0);
    expect(gone.audit).toBe(0);
    expect((await rejection(services.governance.getTrace(as(ada), old.trace.id))).code).toBe('not_found');
    expect((await services.governance.getTrace(as(ada), fresh.trace.id)).query).toBe('fresh');
    services.advance(336 * DAY_MS);
    expect((await services.governance.runUpkeep()).audit).toBeGreaterThan(0);
    const oldest = (await services.governance.listAudit(asAdmin(), { until: new Date(start + 1) })).items;
    expect(oldest).toEqual([]);
    const { entries } = await services.service.list(as(ada), {});
    expect(entries, 'memories are kept').toHaveLength(1);
  });
});

test('the operator of the store sees it all, and is no administrator reading somebody’s', async () => {
  const entry = await remember(ada, '0.9 tea');
  await services.service.get(operator(), entry.id);
  const [get] = (await recordsOf('local')).filter(({ memoryId }) => memoryId === entry.id);
  expect(get?.detail.admin_actor_id).toBeUndefined();
});

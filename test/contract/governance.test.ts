import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KeyScope } from '../../src/core/governance.ts';
import type { RankingProfile } from '../../src/core/types.ts';
import { createKeyCheck } from '../../src/identity/key-check.ts';
import { identifiedContext } from '../../src/service/identified-context.ts';
import { rejection } from '../helpers/refusal.ts';
import {
  as,
  asAdmin,
  openTestServices,
  operator,
  TENANT,
  type TestServices,
} from '../helpers/test-services.ts';

/** Keys, profiles, rule previews and idempotent answers, as faces use them. */

let services: TestServices;

beforeAll(async () => {
  services = await openTestServices();
});
afterAll(() => services.close());

describe('keys', () => {
  const check = (cacheMs = 0) => createKeyCheck({ keys: services.keys, clock: services.now, cacheMs });
  const make = (userId: string, scopes: readonly KeyScope[], expiresAt?: Date) =>
    services.governance.createKey(asAdmin(), { userId, name: `key of ${userId}`, scopes, expiresAt });

  test('a key works from its making to its revocation, and its secret is kept nowhere', async () => {
    const { key, secret } = await make('kay', ['write', 'read']);
    expect(key).toMatchObject({
      tenantId: TENANT,
      userId: 'kay',
      name: 'key of kay',
      scopes: ['read', 'write'],
      createdBy: 'root',
      createdAt: new Date(services.now()),
      expiresAt: null,
      lastUsedAt: null,
    });
    expect(secret.startsWith(`${key.prefix}_`)).toBe(true);
    const identity = await check()(secret);
    expect(identity).toMatchObject({
      principal: { tenantId: TENANT, userId: 'kay', isAdmin: false, isTenantWide: false },
      keyId: key.id,
    });
    const context = identifiedContext(identity);
    const { entry } = await services.service.remember(context, {
      namespace: 'vector.user.kay.n',
      content: 'x',
    });
    expect(entry.createdBy).toBe('kay');
    const kept = JSON.stringify([await services.governance.listKeys(operator()), await services.audit()]);
    expect(kept).toContain(key.id);
    expect(kept).not.toContain(secret.slice(key.prefix.length + 1));
    await services.governance.revokeKey(asAdmin(), key.id);
    expect((await rejection(check()(secret))).code).toBe('unauthenticated');
  });

  test('an expired key is refused, at its very time', async () => {
    const { secret } = await make('kim', ['read'], new Date(services.now() + 1000));
    services.advance(999);
    await check()(secret);
    services.advance(1);
    expect((await rejection(check()(secret))).message).toMatch(/expired/);
  });

  test('the use of a key is noted, to the minute', async () => {
    const { key, secret } = await make('kas', ['read']);
    services.advance(5);
    const usedAt = services.now();
    await check()(secret);
    const lastUse = async () =>
      (await services.governance.listKeys(operator())).find(({ id }) => id === key.id)?.lastUsedAt;
    await expect.poll(lastUse).toEqual(new Date(usedAt));
    services.advance(30_000);
    await check()(secret);
    await services.flush();
    expect(await lastUse()).toEqual(new Date(usedAt));
  });

  test.each([
    ['a user who is no segment', { userId: 'a.b' }, /user_id/],
    ['a user with a space', { userId: 'a b' }, /user_id/],
    ['no user', { userId: '' }, /user_id/],
    ['no name', { name: ' ' }, /name/],
    ['no scope', { scopes: [] }, /without a scope/],
    ['an unknown scope', { scopes: ['read', 'root'] as KeyScope[] }, /no scope "root"/],
    ['an expiry in the past', { expiresAt: new Date(0) }, /expires_at/],
  ])('%s is refused', async (_, draft, message) => {
    const valid = { userId: 'x', name: 'n', scopes: ['read'] as KeyScope[] };
    const refused = await rejection(services.governance.createKey(asAdmin(), { ...valid, ...draft }));
    expect(refused.code).toBe('invalid_input');
    expect(refused.message).toMatch(message);
  });
});

describe('profiles', () => {
  const STRICT: RankingProfile = {
    kind: 'boosted',
    name: 'strict',
    recencyDecay: 0,
    minScore: 0.8,
    relativeCutoff: 0,
    topK: 2,
  };

  test('one that is made ranks the next request that names it, and is another tenant’s never', async () => {
    await services.service.rememberMany(
      as('pat'),
      [0.9, 0.85, 0.81, 0.79].map((similarity) => ({
        namespace: 'vector.user.pat.n',
        content: `${similarity} x`,
      })),
    );
    const { value, warnings } = await services.governance.putProfile(asAdmin(), STRICT);
    expect(value).toEqual({
      profile: STRICT,
      isBuiltIn: false,
      createdAt: new Date(services.now()),
      updatedAt: new Date(services.now()),
    });
    expect(warnings).toEqual([]);
    const recall = (context = as('pat')) =>
      services.service.recall(context, { query: 'q', profile: 'strict', topK: 5 });
    // Without decay relevance is the similarity; 0.79 is below the floor of 0.8.
    expect((await recall()).hits.map(({ score }) => score?.toFixed(2))).toEqual(['0.90', '0.85', '0.81']);
    await services.governance.putProfile(asAdmin(), { ...STRICT, minScore: 0 });
    expect((await recall()).hits).toHaveLength(4);
    expect((await rejection(recall(as('pat', { tenantId: 'other' })))).message).toMatch(/no ranking profile/);
    await services.governance.deleteProfile(asAdmin(), 'strict');
    expect((await rejection(recall())).code).toBe('invalid_input');
  });

  test('the built-in ones are listed first, and can’t be replaced or deleted', async () => {
    const { governance } = services;
    await governance.putProfile(asAdmin(), { ...STRICT, name: 'a first' });
    const names = (await governance.listProfiles(as('pat'))).map(({ profile }) => profile.name);
    expect(names).toEqual(['boosted', 'weighted', 'a first']);
    for (const name of ['boosted', 'weighted']) {
      expect((await rejection(governance.putProfile(asAdmin(), { ...STRICT, name }))).code).toBe('conflict');
      expect((await rejection(governance.deleteProfile(asAdmin(), name))).code).toBe('conflict');
      expect(await governance.getProfile(as('pat'), name)).toMatchObject({
        isBuiltIn: true,
        createdAt: null,
      });
    }
  });

  test('one that a policy names can’t be deleted from under it', async () => {
    const { governance } = services;
    const subject = { kind: 'agent', id: 'uses-it' } as const;
    await governance.putProfile(asAdmin(), { ...STRICT, name: 'used' });
    await governance.putPolicy(asAdmin(), subject, { profile: 'used' });
    const refused = await rejection(governance.deleteProfile(asAdmin(), 'used'));
    expect(refused.code).toBe('conflict');
    expect(refused.message).toContain('agent "uses-it"');
    await governance.deletePolicy(asAdmin(), subject);
    await governance.deleteProfile(asAdmin(), 'used');
    expect((await rejection(governance.getProfile(asAdmin(), 'used'))).code).toBe('not_found');
  });

  test('a risky cutoff is kept with a warning', async () => {
    const { warnings } = await services.governance.putProfile(asAdmin(), {
      ...STRICT,
      name: 'risky',
      relativeCutoff: 0.9,
    });
    expect(warnings.map(({ code }) => code)).toEqual(['risky_relative_cutoff']);
  });
});

describe('a rule’s preview', () => {
  const fill = async () => {
    await services.service.rememberMany(as('pia'), [
      { namespace: 'vector.agent.pia.howto', content: '0.70 how' },
      { namespace: 'vector.agent.pia.howto.sql', content: '0.60 sql' },
      { namespace: 'vector.agent.pia.preferences', content: '0.72 prefers' },
    ]);
    await services.service.remember(as('quinn'), {
      namespace: 'vector.agent.quinn.howto',
      content: '0.99 private',
    });
  };
  const REQUEST = { pattern: 'vector.agent.${user_id}.howto', bonus: 0.1, query: 'q' };
  /** An administrator who previews over memories of their own. */
  const pia = as('pia', { scopes: ['read', 'write', 'admin'] });

  test('tells what it covers and how a query would change, and changes nothing', async () => {
    await fill();
    const preview = await services.governance.previewRule(pia, REQUEST);
    expect(preview.namespaces).toEqual([
      { path: 'vector.agent.pia.howto', liveCount: 1 },
      { path: 'vector.agent.pia.howto.sql', liveCount: 1 },
    ]);
    expect([preview.namespaceCount, preview.entryCount]).toEqual([2, 2]);
    const order = (side: 'before' | 'after') =>
      preview.ranking?.[side].map(({ candidate, score }) => [candidate.namespace, score?.toFixed(3)]);
    // Age 0, so that relevance is similarity × (1 + Σ bonus + 0.05).
    expect(order('before')).toEqual([
      ['vector.agent.pia.preferences', '0.756'],
      ['vector.agent.pia.howto', '0.735'],
      ['vector.agent.pia.howto.sql', '0.630'],
    ]);
    expect(order('after')).toEqual([
      ['vector.agent.pia.howto', '0.805'],
      ['vector.agent.pia.preferences', '0.756'],
      ['vector.agent.pia.howto.sql', '0.690'],
    ]);
    expect(await services.service.listRules(pia)).toEqual([]);
    const { trace } = await services.service.recall(pia, { query: 'q' });
    expect(trace.rules).toEqual([]);
  });

  test('replaces the rule of the same pattern, and adds to the others', async () => {
    await services.service.putRule(asAdmin(), { pattern: REQUEST.pattern, bonus: 0.5 });
    await services.service.putRule(asAdmin(), { pattern: 'vector.agent.*', bonus: 0.2 });
    const { ranking } = await services.governance.previewRule(pia, { ...REQUEST, bonus: 0, topK: 1 });
    // Before: 0.70 × (1 + 0.5 + 0.2 + 0.05); after: 0.72 × (1 + 0.2 + 0.05).
    expect(ranking?.before[0]?.score).toBeCloseTo(1.225, 6);
    expect(ranking?.after[0]?.score).toBeCloseTo(0.9, 6);
    expect(ranking?.after[0]?.candidate.namespace).toBe('vector.agent.pia.preferences');
    for (const { pattern } of await services.service.listRules(asAdmin())) {
      await services.service.deleteRule(asAdmin(), pattern);
    }
  });

  test('without a query ranks nothing; a pattern that covers nothing says so', async () => {
    expect(await services.governance.previewRule(pia, { pattern: 'no.such' })).toEqual({
      namespaces: [],
      namespaceCount: 0,
      entryCount: 0,
      ranking: null,
    });
  });

  test('shows what the asker may read and no more', async () => {
    const preview = await services.governance.previewRule(pia, { ...REQUEST, namespaces: ['*'] });
    expect(JSON.stringify(preview)).not.toContain('quinn');
  });

  test.each([
    [{ pattern: 'vec*' }, 'pattern'],
    [{ pattern: '*', bonus: 1.1 }, 'bonus'],
    [{ pattern: '*', bonus: -0.1 }, 'bonus'],
    [{ pattern: '*', bonus: Number.NaN }, 'bonus'],
    [{ pattern: '*', query: ' ' }, 'query'],
    [{ pattern: '*', query: 'q', profile: 'no such' }, 'profile'],
    [{ pattern: '*', query: 'q', topK: 0 }, 'top_k'],
  ])('%j is refused', async (request, path) => {
    const refused = await rejection(services.governance.previewRule(pia, request));
    expect(refused.code).toBe('invalid_input');
    expect(refused.details[0]?.path).toBe(path);
  });
});

describe('an idempotency key', () => {
  const context = as('ida');
  const answerOf = (id: number) => ({ status: 201, body: { id } });
  const send = (
    key: string,
    requestHash: string,
    work: () => Promise<{ status: number; body: { id: number } }>,
  ) => services.governance.withIdempotency(context, key, requestHash, work);

  test('carries a request out once, and gives its answer again for a day', async () => {
    let times = 0;
    const work = async () => {
      times += 1;
      return answerOf(times);
    };
    expect(await send('k1', 'h1', work)).toEqual({ ...answerOf(1), isReplay: false });
    services.advance(86_400_000);
    await services.governance.runUpkeep();
    expect(await send('k1', 'h1', work)).toEqual({ ...answerOf(1), isReplay: true });
    services.advance(1);
    await services.governance.runUpkeep();
    expect(await send('k1', 'h1', work)).toEqual({ ...answerOf(2), isReplay: false });
  });

  test('of another request is a conflict, which waiting does not help', async () => {
    await send('k2', 'h1', async () => answerOf(1));
    const refused = await rejection(send('k2', 'h2', async () => answerOf(2)));
    expect(refused.code).toBe('conflict');
    expect(refused.message).toMatch(/used for another request/);
    expect(refused.retryAfterSeconds).toBeUndefined();
  });

  test('of a request that is still running is a conflict that says when to come back', async () => {
    let finish = (_: ReturnType<typeof answerOf>) => {};
    const answered = new Promise<ReturnType<typeof answerOf>>((resolve) => {
      finish = resolve;
    });
    let running: ReturnType<typeof send> | undefined;
    await new Promise<void>((begun) => {
      running = send('k3', 'h1', () => {
        begun();
        return answered;
      });
    });
    const refused = await rejection(send('k3', 'h1', async () => answerOf(2)));
    expect(refused).toMatchObject({ code: 'conflict', retryAfterSeconds: 1 });
    finish(answerOf(1));
    expect((await running)?.isReplay).toBe(false);
    expect(await send('k3', 'h1', async () => answerOf(2))).toEqual({ ...answerOf(1), isReplay: true });
  });

  test('is given up by a request that fails, so that it can be repeated', async () => {
    const failure = new Error('the provider is down');
    await expect(send('k4', 'h1', () => Promise.reject(failure))).rejects.toBe(failure);
    expect(await send('k4', 'h1', async () => answerOf(1))).toEqual({ ...answerOf(1), isReplay: false });
  });

  test('is its user’s own', async () => {
    await send('k5', 'h1', async () => answerOf(1));
    const other = await services.governance.withIdempotency(as('ivo'), 'k5', 'h9', async () => answerOf(2));
    expect(other).toEqual({ ...answerOf(2), isReplay: false });
  });

  test('can’t be blank, long without end, or hold a NUL', async () => {
    for (const key of ['', ' ', 'x'.repeat(256), 'a\0b']) {
      expect((await rejection(send(key, 'h', async () => answerOf(1)))).code).toBe('invalid_input');
    }
  });
});

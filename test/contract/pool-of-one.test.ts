import { afterAll, beforeAll, expect, test } from 'vitest';
import { rejection } from '../helpers/refusal.ts';
import { as, asAdmin, openTestServices, type TestServices } from '../helpers/test-services.ts';

/**
 * CASES A10: everybody's requests run on one and the same connection, so whatever a request leaves behind on it would
 * be the next one's. PGlite has one anyway; PostgreSQL gets a pool of one.
 */

let services: TestServices;

beforeAll(async () => {
  services = await openTestServices({ maxConnections: 1 });
  for (const user of ['ada', 'bob']) {
    await services.service.remember(as(user), {
      namespace: `vector.user.${user}.n`,
      content: `0.9 of ${user}`,
    });
  }
  await services.governance.putPolicy(
    asAdmin(),
    { kind: 'agent', id: 'a' },
    { readNamespaces: ['team.*'], allowedWriteNamespaces: ['team.*'] },
  );
  await services.service.remember(as('ada', { subject: { agentId: 'a' } }), {
    namespace: 'team.x',
    content: '0.9 of the team',
  });
});
afterAll(() => services.close());

const seen = async (user: string) => {
  const { hits } = await services.service.recall(as(user), { query: 'q', namespaces: ['*'] });
  return hits.map(({ entry }) => entry.namespace).sort();
};

test('after a request that fails in the midst of its transaction, the next user sees only their own', async () => {
  const ada = as('ada', { subject: { agentId: 'a' } });
  const failing: [string, () => Promise<unknown>][] = [
    // The first draft is written before the second is refused by the database.
    [
      'a write the database refuses',
      () =>
        services.service.rememberMany(ada, [
          { namespace: 'team.y', content: 'written, then rolled back' },
          { namespace: 'vector.user.ada.n', content: 'with a NUL', metadata: { text: 'a\0b' } },
        ]),
    ],
    [
      'a policy that refuses',
      () => services.service.remember({ ...ada, origin: 'tool_call' }, { content: 'x' }),
    ],
    ['a foreign id', () => services.service.purge(as('ada'), '01900000-0000-7000-8000-000000000001')],
    ['an unknown profile', () => services.service.recall(ada, { query: 'q', profile: 'no such' })],
  ];
  for (const [what, fail] of failing) {
    await rejection(fail());
    expect(await seen('bob'), what).toEqual(['vector.user.bob.n']);
    expect(await seen('nobody'), what).toEqual([]);
  }
});

test('after an administrator, and after an agent with a policy, the next user has neither’s rights', async () => {
  await services.governance.listAudit(asAdmin());
  expect(await seen('bob')).toEqual(['vector.user.bob.n']);
  const { hits } = await services.service.recall(as('ada', { subject: { agentId: 'a' } }), { query: 'q' });
  expect(hits.map(({ entry }) => entry.namespace)).toEqual(['team.x']);
  expect(await seen('bob')).toEqual(['vector.user.bob.n']);
  const write = services.service.remember(as('bob'), { namespace: 'team.x', content: 'by bob' });
  expect((await rejection(write)).code).toBe('forbidden');
});

test('a hundred requests of two users in a jumble each see their own', async () => {
  const users = Array.from({ length: 100 }, (_, index) => (index % 3 === 0 ? 'ada' : 'bob'));
  const answers = await Promise.all(
    users.map(async (user, index) => {
      if (index % 10 === 7)
        await rejection(services.service.get(as(user), '01900000-0000-7000-8000-000000000001'));
      return seen(user);
    }),
  );
  expect(answers).toEqual(users.map((user) => [`vector.user.${user}.n`]));
});

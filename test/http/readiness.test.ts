import { fastify } from 'fastify';
import { describe, expect, test } from 'vitest';
import { PalimpsestError } from '../../src/core/errors.ts';
import type { StoreHealth } from '../../src/core/ports.ts';
import { sendError } from '../../src/http/error-response.ts';
import { healthRoutes } from '../../src/http/health-routes.ts';
import { serveHttp } from '../../src/http/serve-http.ts';
import { openTestHttp } from '../helpers/test-http.ts';

const WELL: StoreHealth = {
  backend: 'postgres',
  serverVersion: '17',
  vectorVersion: '0.8.0',
  schemaVersion: 4,
  role: 'palimpsest_app',
  roleBypassesRls: false,
  clockOffsetMs: 0,
};

/** The routes alone, on a store that does as it is told. */
function appOn(health: () => Promise<StoreHealth>, deadlineMs: number) {
  const app = fastify();
  app.decorate('isDraining', false);
  app.setErrorHandler(sendError);
  app.register(healthRoutes, { service: { health }, deadlineMs });
  return app;
}

describe('/readyz', () => {
  test('is 503 with the reason while the database is away, and ready again by itself', async () => {
    let isAway = true;
    const app = appOn(async () => {
      if (isAway) throw new PalimpsestError('store_unavailable', 'Could not connect to PostgreSQL.');
      return WELL;
    }, 1_000);
    const away = await app.inject('/readyz');
    expect(away.statusCode).toBe(503);
    expect(away.json().error).toMatchObject({
      code: 'store_unavailable',
      message: 'Could not connect to PostgreSQL.',
    });
    expect((await app.inject('/livez')).statusCode).toBe(200);
    isAway = false;
    expect((await app.inject('/readyz')).json()).toEqual({
      status: 'ready',
      backend: 'postgres',
      schema_version: 4,
    });
  });

  test('does not wait for a database that does not answer, and asks it once for all who ask', async () => {
    let asked = 0;
    let answers = false;
    const hanging: ((health: StoreHealth) => void)[] = [];
    const app = appOn(() => {
      asked += 1;
      return answers ? Promise.resolve(WELL) : new Promise((resolve) => hanging.push(resolve));
    }, 30);
    const refused = await Promise.all(Array.from({ length: 20 }, () => app.inject('/readyz')));
    expect(new Set(refused.map(({ statusCode }) => statusCode))).toEqual(new Set([503]));
    expect(refused[0]?.json().error).toMatchObject({
      code: 'store_unavailable',
      message: 'The store did not answer within 0.03 s.',
    });
    expect(asked).toBe(1);
    answers = true;
    // The question that hung is answered at last; the next one is a new one.
    for (const answer of hanging) answer(WELL);
    await expect.poll(async () => (await app.inject('/readyz')).statusCode).toBe(200);
  });

  test('is 503 as soon as the server is told to stop, while everything else is answered', async () => {
    const http = await openTestHttp();
    const server = await serveHttp(http.app, { host: '127.0.0.1', port: 0, delayMs: 5_000 });
    try {
      expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
      const logged = http.logged().length;
      const closing = server.close();
      const draining = await fetch(`${server.url}/readyz`);
      expect(draining.status).toBe(503);
      expect(await draining.json()).toMatchObject({ error: { code: 'shutting_down' } });
      const other = await fetch(`${server.url}/v1/memories`);
      expect(other.status).toBe(200);
      expect(other.headers.get('connection')).toBe('close');
      expect(http.logged().slice(logged)).not.toContain('"level":50');
      await closing;
      await expect(fetch(`${server.url}/livez`)).rejects.toThrow('fetch failed');
    } finally {
      await http.close();
    }
  });
});

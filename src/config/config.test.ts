import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { PalimpsestError } from '../core/errors.ts';
import { type ConfigOptions, defaultDataDir, type Environment, loadConfig } from './config.ts';

test('nothing said: an embedded store in the platform’s folder, on loopback port 7077', () => {
  expect(loadConfig({}, {})).toEqual({
    store: { dataDir: defaultDataDir() },
    http: { host: '127.0.0.1', port: 7077, corsOrigins: [], rateLimit: undefined, trustedProxies: [] },
    identity: { mode: 'local', tokens: null },
    retention: { auditDays: 365, traceDays: 30 },
    logLevel: 'info',
    embedding: { provider: 'hashing' },
  });
});

test('the environment is read, and an option outranks it', () => {
  const environment = { PALIMPSEST_DATA_DIR: 'a', PALIMPSEST_PORT: '8000', PALIMPSEST_LOG_LEVEL: 'warn' };
  expect(loadConfig({}, environment)).toMatchObject({
    store: { dataDir: resolve('a') },
    http: { port: 8000 },
    logLevel: 'warn',
  });
  expect(loadConfig({ dataDir: 'b', port: '9000', logLevel: 'silent' }, environment)).toMatchObject({
    store: { dataDir: resolve('b') },
    http: { port: 9000 },
    logLevel: 'silent',
  });
});

test('port 0 is a value: any free port', () => {
  expect(loadConfig({ port: '0' }, { PALIMPSEST_PORT: '8000' }).http.port).toBe(0);
});

test('an empty variable counts as unset', () => {
  expect(loadConfig({}, { PALIMPSEST_PORT: '', PALIMPSEST_DATABASE_URL: '' })).toEqual(loadConfig({}, {}));
});

test('an option for one place outranks a variable for the other', () => {
  const url = 'postgres://localhost/memories';
  expect(loadConfig({ databaseUrl: url }, { PALIMPSEST_DATA_DIR: 'a' }).store).toEqual({
    databaseUrl: url,
  });
  expect(loadConfig({ dataDir: 'a' }, { PALIMPSEST_DATABASE_URL: url }).store).toEqual({
    dataDir: resolve('a'),
  });
});

test.each<[string, ConfigOptions, Environment]>([
  ['name two places', { dataDir: 'a', databaseUrl: 'postgres://h/d' }, {}],
  ['name two places', {}, { PALIMPSEST_DATA_DIR: 'a', PALIMPSEST_DATABASE_URL: 'postgres://h/d' }],
  ['--data-dir is empty', { dataDir: '' }, {}],
  ['--database-url is not a PostgreSQL URL', { databaseUrl: 'mysql://h/d' }, {}],
  ['--port is not a port: "80a"', { port: '80a' }, {}],
  ['PALIMPSEST_PORT is not a port: "65536"', {}, { PALIMPSEST_PORT: '65536' }],
  ['--log-level is "wran"; allowed: .* Did you mean warn', { logLevel: 'wran' }, {}],
  ['PALIMPSEST_DATADIR is unknown. Did you mean PALIMPSEST_DATA_DIR', {}, { PALIMPSEST_DATADIR: 'a' }],
  ['PALIMPSEST_COLOUR is unknown', {}, { PALIMPSEST_COLOUR: 'red' }],
])('refused: %s', (message, options, environment) => {
  const load = () => loadConfig(options, environment);
  expect(load).toThrow(PalimpsestError);
  expect(load).toThrow(new RegExp(message));
});

test('a URL that is refused is not repeated: it may hold a password', () => {
  let message = '';
  try {
    loadConfig({ databaseUrl: 'http://me:secret@h/d' }, {});
  } catch (error) {
    message = String(error) + JSON.stringify(error);
  }
  expect(message).toContain('--database-url');
  expect(message).not.toContain('secret');
});

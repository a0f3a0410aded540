import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { BOOSTED_PROFILE } from '../core/defaults.ts';
import { type Config, type ConfigOptions, type Environment, loadConfig } from './config.ts';
import { USUAL_CONFIG_FILE } from './config-file.ts';
import { defaultDataDir } from './store-config.ts';

/** Configuration files by path. */
const disk = (files: Record<string, unknown>) => (path: string) => {
  const found = Object.entries(files).find(([name]) => resolve(name) === path);
  return found === undefined ? undefined : typeof found[1] === 'string' ? found[1] : JSON.stringify(found[1]);
};
const EMPTY_DISK = disk({});

/** With this configuration file, named. */
const withFile = (file: unknown, environment: Environment = {}, options: ConfigOptions = {}): Config =>
  loadConfig({ config: USUAL_CONFIG_FILE, ...options }, environment, disk({ [USUAL_CONFIG_FILE]: file }));

test('nothing said: an embedded store in the platform’s folder, on loopback port 7077', () => {
  expect(loadConfig({}, {}, EMPTY_DISK)).toEqual({
    file: null,
    store: { dataDir: defaultDataDir() },
    http: {
      host: '127.0.0.1',
      port: 7077,
      corsOrigins: [],
      rateLimit: undefined,
      trustedProxies: [],
      metrics: true,
      metricsToken: undefined,
      stopDelaySeconds: 0,
    },
    identity: { mode: 'local', tokens: null },
    apiKey: undefined,
    retention: { auditDays: 365, traceDays: 30 },
    logLevel: 'info',
    ranking: { boosted: BOOSTED_PROFILE },
    embedding: { mode: 'local' },
    hnsw: { exactUpTo: 100_000, efSearch: 100, iterativeScan: 'strict_order', maxScanTuples: 20_000 },
    telemetry: { sendsSpans: false },
    environment: {},
    warnings: [],
  });
});

describe('options and environment', () => {
  test('the environment is read, and an option outranks it', () => {
    const environment = { PALIMPSEST_DATA_DIR: 'a', PALIMPSEST_PORT: '8000', PALIMPSEST_LOG_LEVEL: 'warn' };
    expect(loadConfig({}, environment, EMPTY_DISK)).toMatchObject({
      store: { dataDir: resolve('a') },
      http: { port: 8000 },
      logLevel: 'warn',
    });
    expect(
      loadConfig({ dataDir: 'b', port: '9000', logLevel: 'silent' }, environment, EMPTY_DISK),
    ).toMatchObject({
      store: { dataDir: resolve('b') },
      http: { port: 9000 },
      logLevel: 'silent',
    });
  });

  test('port 0 is a value: any free port', () => {
    expect(loadConfig({ port: '0' }, { PALIMPSEST_PORT: '8000' }, EMPTY_DISK).http.port).toBe(0);
  });

  test('an empty variable counts as unset', () => {
    const environment = { PALIMPSEST_PORT: '', PALIMPSEST_DATABASE_URL: '', EMBEDDING_CONFIG_PATH: '' };
    expect(loadConfig({}, environment, EMPTY_DISK)).toEqual({
      ...loadConfig({}, {}, EMPTY_DISK),
      environment,
    });
  });

  test('an option for one place outranks a variable for the other, and a variable the file', () => {
    const url = 'postgres://localhost/memories';
    const postgres = { databaseUrl: url, maxConnections: 10 };
    expect(loadConfig({ databaseUrl: url }, { PALIMPSEST_DATA_DIR: 'a' }, EMPTY_DISK).store).toEqual(
      postgres,
    );
    expect(loadConfig({ dataDir: 'a' }, { PALIMPSEST_DATABASE_URL: url }, EMPTY_DISK).store).toEqual({
      dataDir: resolve('a'),
    });
    expect(withFile({ store: { data_dir: 'a' } }, { PALIMPSEST_DATABASE_URL: url }).store).toEqual(postgres);
    expect(withFile({ store: { database_url: url } }, { PALIMPSEST_DATA_DIR: 'a' }).store).toEqual({
      dataDir: resolve('a'),
    });
  });

  test.each<[string, ConfigOptions, Environment]>([
    ['name two places', { dataDir: 'a', databaseUrl: 'postgres://h/d' }, {}],
    ['name two places', {}, { PALIMPSEST_DATA_DIR: 'a', PALIMPSEST_DATABASE_URL: 'postgres://h/d' }],
    ['--data-dir is ""; allowed: a directory', { dataDir: '' }, {}],
    ['--database-url is of another form; allowed: postgres://', { databaseUrl: 'mysql://h/d' }, {}],
    ['--port is "80a"; allowed: a whole number from 0 to 65535', { port: '80a' }, {}],
    ['--port is "-1"', { port: '-1' }, {}],
    ['PALIMPSEST_PORT is 65536', {}, { PALIMPSEST_PORT: '65536' }],
    ['PALIMPSEST_MAX_CONNECTIONS is 0', {}, connections('0')],
    ['--log-level is "wran"; allowed: .* Did you mean warn', { logLevel: 'wran' }, {}],
    ['PALIMPSEST_DATADIR is unknown. Did you mean PALIMPSEST_DATA_DIR', {}, { PALIMPSEST_DATADIR: 'a' }],
    ['PALIMPSEST_COLOUR is unknown', {}, { PALIMPSEST_COLOUR: 'red' }],
    [
      'EMBEDDING_CONFIG_PATH names .*gone.json, which is not there',
      {},
      { EMBEDDING_CONFIG_PATH: 'gone.json' },
    ],
    ['--config names .*gone.json', { config: 'gone.json' }, { EMBEDDING_CONFIG_PATH: 'b.json' }],
  ])('refused: %s', (message, options, environment) => {
    const { code, message: got } = refusal(() => loadConfig(options, environment, EMPTY_DISK));
    expect(code).toBe('invalid_config');
    expect(got).toMatch(new RegExp(message));
  });

  test('a URL that is refused is not repeated: it may hold a password', () => {
    const refused = refusal(() => loadConfig({ databaseUrl: 'http://me:secret@h/d' }, {}, EMPTY_DISK));
    expect(refused.message).toContain('--database-url');
    expect(String(refused) + JSON.stringify(refused)).not.toContain('secret');
  });
});

function connections(value: string): Environment {
  return { PALIMPSEST_DATABASE_URL: 'postgres://h/d', PALIMPSEST_MAX_CONNECTIONS: value };
}

describe('the configuration file', () => {
  test('says what it says, and is outranked by the environment and by options', () => {
    const file = {
      http: { port: 1, host: '::1', cors_origins: ['https://a.example.com'], metrics: false },
      log: { level: 'warn' },
      retention: { audit_days: 0, trace_days: 'forever' },
      ranking: { recency_decay: 0, min_score: 0.15 },
    };
    expect(withFile(file)).toMatchObject({
      file: resolve(USUAL_CONFIG_FILE),
      http: { port: 1, host: '::1', corsOrigins: ['https://a.example.com'], metrics: false },
      logLevel: 'warn',
      retention: { auditDays: 0, traceDays: null },
      ranking: { boosted: { ...BOOSTED_PROFILE, recencyDecay: 0, minScore: 0.15 } },
      warnings: [],
    });
    const environment = { PALIMPSEST_PORT: '2', PALIMPSEST_RECENCY_DECAY: '0.1', PALIMPSEST_METRICS: 'on' };
    expect(withFile(file, environment)).toMatchObject({
      http: { port: 2, host: '::1', metrics: true },
      ranking: { boosted: { recencyDecay: 0.1, minScore: 0.15 } },
    });
    expect(withFile(file, environment, { port: '0' }).http).toMatchObject({ port: 0, host: '::1' });
  });

  test('is the one that the environment names, and --config outranks that', () => {
    const files = disk({
      'a.json': { http: { port: 1 } },
      'b.json': { http: { port: 2 } },
      [USUAL_CONFIG_FILE]: { http: { port: 3 } },
    });
    const environment = { EMBEDDING_CONFIG_PATH: 'a.json' };
    expect(loadConfig({}, environment, files).http.port).toBe(1);
    expect(loadConfig({ config: 'b.json' }, environment, files).http.port).toBe(2);
  });

  test('is not read unless it is named: a working directory may be anybody’s', () => {
    const opened: string[] = [];
    const hostile = (path: string) => {
      opened.push(path);
      return '{"store":{"data_dir":"elsewhere"}}';
    };
    const isThere = (path: string) => path === resolve(USUAL_CONFIG_FILE);
    const { warnings, ...found } = loadConfig({}, {}, hostile, isThere);
    const { warnings: none, ...nothing } = loadConfig({}, {}, EMPTY_DISK, () => false);
    expect(opened).toEqual([]);
    expect(none).toEqual([]);
    expect(found).toEqual(nothing);
    expect(warnings).toEqual([expect.stringContaining('name it with --config or EMBEDDING_CONFIG_PATH')]);
  });

  test('may begin with a byte order mark', () => {
    expect(withFile('\uFEFF{"http":{"port":5}}').http.port).toBe(5);
  });

  test.each<[string, unknown]>([
    ['"http.prot" in .* is unknown. Did you mean http.port', { http: { prot: 1 } }],
    ['"htpp" in .* is unknown. Did you mean http', { htpp: { port: 1 } }],
    ['"recency_decay" in .* is unknown. Did you mean ranking.recency_decay', { recency_decay: 0.05 }],
    ['"ranking.recencyDecay" in .* Did you mean ranking.recency_decay', { ranking: { recencyDecay: 0.05 } }],
    ['"ranking.colour" in .* is unknown.$', { ranking: { colour: 'red' } }],
    ['"__proto__" in .* is unknown', '{"__proto__":{"port":1}}'],
    ['identity.jwt.secret.* set PALIMPSEST_JWT_SECRET', { identity: { jwt: { secret: 'x' } } }],
    ['http.metrics_token.* set PALIMPSEST_METRICS_TOKEN', { http: { metrics_token: 'x' } }],
    ['http is 5; allowed: an object', { http: 5 }],
    ['http is null; allowed: an object', { http: null }],
    ['file .* is a list; allowed: an object', []],
    ['http.port is "80"; allowed: a whole number from 0 to 65535', { http: { port: '80' } }],
    ['http.port is null', { http: { port: null } }],
    ['http.cors_origins is "https://a.b"; allowed: a list', { http: { cors_origins: 'https://a.b' } }],
    ['hnsw.ef_search is 0; allowed: a whole number from 1 to 1000', { hnsw: { ef_search: 0 } }],
    ['hnsw.iterative_scan is "on"; allowed', { hnsw: { iterative_scan: 'on' } }],
    ['ranking.recency_decay is 1.5; allowed: a number from 0 to 1', { ranking: { recency_decay: 1.5 } }],
    ['ranking.min_score is "0.1"; allowed: a number of at least 0', { ranking: { min_score: '0.1' } }],
    ['embedding.local.modell is unknown. Did you mean model', local({ modell: 'x' })],
    ['embedding.local.baseUrl is unknown. Did you mean base_url', local({ baseUrl: 'http://h' })],
    ['embedding.local.calls.timeout is unknown', local({ calls: { timeout: 1 } })],
    ['embedding.local.calls.max_retries is -1', local({ calls: { max_retries: -1 } })],
    ['embedding.local.provider is missing', { embedding: { local: { model: 'x' } } }],
    ['embedding.mode is "hybird".* Did you mean hybrid', { embedding: { mode: 'hybird' } }],
    ['is not JSON, at line 1, column 16', '{"http":{"x":1 secret}}'],
    ['is not JSON', ''],
  ])('refused: %s', (message, file) => {
    const refused = refusal(() => withFile(file));
    expect(refused.code).toBe('invalid_config');
    expect(refused.message).toMatch(new RegExp(message));
    expect(JSON.stringify(refused) + String(refused)).not.toContain('secret}');
  });
});

function local(options: object): object {
  return { embedding: { local: { provider: 'openai', ...options } } };
}

describe('ranking.priorities', () => {
  test('is ignored, and a warning spells out each conversion: bonus = priority - 1', () => {
    const priorities = {
      'vector.agent.${user_id}.howto': 1.09,
      'vector.global.*': 2,
      'vector.agent.*': 1,
      'vector.user.*': 0.8,
      'team.*': 2.5,
      "it's": 1.5,
      broken: 'high',
    };
    const { warnings, ranking } = withFile({ ranking: { priorities, recency_decay: 0.2 } });
    expect(ranking).toEqual({ boosted: { ...BOOSTED_PROFILE, recencyDecay: 0.2 } });
    expect(warnings).toEqual([
      expect.stringContaining('ranking.priorities is ignored'),
      // 1.09 - 1, without the rounding error of binary fractions.
      `ranking.priorities["vector.agent.\${user_id}.howto"]: bonus = priority - 1 = 1.09 - 1 = 0.09. Set it by: palimpsest rules set 'vector.agent.\${user_id}.howto' --bonus 0.09`,
      `ranking.priorities["vector.global.*"]: bonus = priority - 1 = 2 - 1 = 1. Set it by: palimpsest rules set 'vector.global.*' --bonus 1`,
      'ranking.priorities["vector.agent.*"]: bonus = priority - 1 = 1 - 1 = 0: it changed nothing, and needs no rule.',
      'ranking.priorities["vector.user.*"]: bonus = priority - 1 = 0.8 - 1 = -0.2, which no rule can hold: a bonus is from 0 to 1, so nothing can rank lower than without a rule.',
      'ranking.priorities["team.*"]: bonus = priority - 1 = 2.5 - 1 = 1.5, which no rule can hold: a bonus is from 0 to 1. The nearest is 1.',
      `ranking.priorities["it's"]: bonus = priority - 1 = 1.5 - 1 = 0.5. Set it by: palimpsest rules set 'it'\\''s' --bonus 0.5`,
      'ranking.priorities["broken"] is "high", which is no priority: there is nothing to convert.',
    ]);
  });

  test.each<[unknown]>([[{}], [[]], [null], [3]])(
    'as %j there is nothing to convert, and it is ignored all the same',
    (priorities) => {
      const { warnings } = withFile({ ranking: { priorities } });
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain('ranking.priorities is ignored');
    },
  );
});

test('a relative cutoff from 0.8 upwards warns', () => {
  const warningsAt = (cutoff: number) => withFile({ ranking: { relative_cutoff: cutoff } }).warnings;
  expect(warningsAt(0.79)).toEqual([]);
  expect(warningsAt(0.8)).toEqual([expect.stringContaining('ranking.relative_cutoff is 0.8')]);
});

describe('embedding', () => {
  const CLOUD = {
    provider: 'openai',
    model: 'text-embedding-3-small',
    api_key: { env: 'OPENAI_API_KEY' },
    calls: { max_retries: 0 },
  };
  const HYBRID = {
    embedding: { mode: 'hybrid', cloud: CLOUD, local: { provider: 'minilm' }, on_429: 'retry' },
  };

  test('names of the file become those of the code, at every depth', () => {
    expect(withFile(HYBRID).embedding).toEqual({
      mode: 'hybrid',
      cloud: {
        provider: 'openai',
        model: 'text-embedding-3-small',
        apiKey: { env: 'OPENAI_API_KEY' },
        calls: { maxRetries: 0 },
      },
      local: { provider: 'minilm' },
      on429: 'retry',
      on5xx: undefined,
      documentFields: undefined,
    });
  });

  test('PALIMPSEST_EMBEDDING_PROVIDER names the one to use; what is configured for it holds', () => {
    const chosen = (provider: string) =>
      withFile(HYBRID, { PALIMPSEST_EMBEDDING_PROVIDER: provider }).embedding;
    expect(chosen('semantic')).toMatchObject({
      mode: 'local',
      local: { provider: 'semantic' },
      cloud: undefined,
    });
    expect(chosen('openai')).toMatchObject({ mode: 'local', local: { model: 'text-embedding-3-small' } });
    expect(chosen('disabled').mode).toBe('disabled');
  });

  test('a provider can be a variable in JSON', () => {
    const environment = {
      PALIMPSEST_EMBEDDING_MODE: 'cloud',
      PALIMPSEST_EMBEDDING_CLOUD: '{"provider":"ollama","model":"nomic-embed-text","base_url":"http://h:1"}',
    };
    expect(loadConfig({}, environment, EMPTY_DISK).embedding).toMatchObject({
      mode: 'cloud',
      cloud: { provider: 'ollama', model: 'nomic-embed-text', baseUrl: 'http://h:1' },
    });
  });

  test.each<[string, unknown, Environment]>([
    ['embedding.local.api_key is a text; allowed: a JSON object', local({ api_key: 'sk-4711' }), {}],
    ['embedding.local is a text', { embedding: { local: 'sk-4711' } }, {}],
    ['PALIMPSEST_EMBEDDING_CLOUD is a text', {}, { PALIMPSEST_EMBEDDING_CLOUD: '{"api_key":"sk-4711"' }],
  ])('a key in the wrong place is not repeated: %s', (message, file, environment) => {
    const refused = refusal(() => withFile(file, environment));
    expect(refused.message).toContain(message);
    expect(JSON.stringify(refused) + String(refused)).not.toContain('4711');
  });

  test('two variables that choose are refused', () => {
    const environment = { PALIMPSEST_EMBEDDING_MODE: 'cloud', PALIMPSEST_EMBEDDING_PROVIDER: 'hashing' };
    expect(() => loadConfig({}, environment, EMPTY_DISK)).toThrow('names the one provider to use');
  });

  test('a prefix may be empty', () => {
    expect(withFile(local({ prefixes: { document: '', query: 'q: ' } })).embedding.local).toEqual({
      provider: 'openai',
      prefixes: { document: '', query: 'q: ' },
    });
  });
});

describe('spans', () => {
  const sends = (environment: Environment) => loadConfig({}, environment, EMPTY_DISK).telemetry.sendsSpans;

  test('are sent where the standard variables say where to', () => {
    expect(sends({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' })).toBe(true);
    expect(sends({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://localhost:4318/v1/traces' })).toBe(true);
    expect(sends({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBe(false);
    expect(sends({ OTEL_SERVICE_NAME: 'memories' })).toBe(false);
  });

  test('are not sent where they say no', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' };
    expect(sends({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBe(false);
    expect(sends({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBe(false);
    expect(sends({ ...endpoint, OTEL_TRACES_EXPORTER: 'otlp' })).toBe(true);
  });

  test('are not sent by gRPC, which is said', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    };
    expect(loadConfig({}, environment, EMPTY_DISK).warnings).toEqual([
      expect.stringContaining('OTEL_EXPORTER_OTLP_PROTOCOL is grpc'),
    ]);
    expect(sends(environment)).toBe(true);
  });
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../src/app-serve.ts';
import type { RunningServer } from '../../src/cli/cli-parts.ts';
import { type Environment, loadConfig } from '../../src/config/config.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { type EmbeddingServer, startEmbeddingServer } from '../helpers/embedding-server.ts';
import { parseScrape, type Scrape, scrape } from '../helpers/scrape.ts';
import { JSON_BODY } from '../helpers/test-http.ts';

/** A real server with a real service for embeddings, asked as Prometheus asks. */

const CLOUD = 'openai/cloud/512';
const LOCAL = 'hashing-512-v1';
const CONTENT = 'The zanzibar contract was signed on a Tuesday.';
const NAMESPACE = 'vector.user.ada.quagga';

let folder: string;
let service: EmbeddingServer;
let server: RunningServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-metrics-'));
  const hashing = createHashingProvider();
  service = await startEmbeddingServer({
    vectorOf: async (text) => [...((await hashing.embed([text], 'document'))[0] ?? [])],
  });
  server = await start({
    PALIMPSEST_EMBEDDING_MODE: 'hybrid',
    PALIMPSEST_EMBEDDING_CLOUD: JSON.stringify({
      provider: 'openai',
      base_url: service.openAiUrl,
      model: 'cloud',
      model_id: CLOUD,
      dimensions: 512,
      calls: { breaker_threshold: 2 },
    }),
  });
});

afterAll(async () => {
  await server.close();
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The server as `palimpsest serve` starts it, on the one data directory. */
function start(environment: Environment): Promise<RunningServer> {
  const options = { dataDir: join(folder, 'data'), port: '0', logLevel: 'silent' };
  return serve(loadConfig(options, environment, () => undefined));
}

function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${server.url}${path}`, { method: 'POST', headers: JSON_BODY, body: JSON.stringify(body) });
}

/** How much samples rose while something was done; those that did not are left out. */
async function risesOf(work: () => Promise<unknown>): Promise<ReadonlyMap<string, number>> {
  const before = await scrape(server.url);
  await work();
  const after = await scrape(server.url);
  const rises = [...after.samples].map(
    ([sample, value]) => [sample, value - (before.samples.get(sample) ?? 0)] as const,
  );
  return new Map(rises.filter(([, rise]) => rise !== 0));
}

const write = (content: string) => post('/v1/memories', { namespace: NAMESPACE, content });
const search = (query: string) => post('/v1/memories/search', { query });

describe('/metrics', () => {
  test('counts and times requests by the pattern of their route, use cases and entries', async () => {
    const rises = await risesOf(async () => {
      await write(CONTENT);
      await write(CONTENT);
      await fetch(`${server.url}/v1/memories/0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f`);
      await fetch(`${server.url}/v1/nothing/here`);
    });
    const requests = (labels: string) =>
      rises.get(`palimpsest_http_request_duration_seconds_count{${labels}}`);
    expect(requests('method="POST",route="/v1/memories",status="201"')).toBe(1);
    expect(requests('method="POST",route="/v1/memories",status="200"')).toBe(1);
    expect(requests('method="GET",route="/v1/memories/:id",status="404"')).toBe(1);
    expect(requests('method="GET",route="none",status="404"')).toBe(1);
    expect(rises.get('palimpsest_http_errors_total{code="not_found"}')).toBe(2);
    const operations = (labels: string) =>
      rises.get(`palimpsest_operation_duration_seconds_count{${labels}}`);
    expect(operations('operation="remember",outcome="ok"')).toBe(2);
    expect(operations('operation="get",outcome="not_found"')).toBe(1);
    expect(rises.get('palimpsest_entries_written_total{operation="create"}')).toBe(1);
    expect(rises.get('palimpsest_entries_written_total{operation="refresh"}')).toBe(1);
  });

  test('times each stage of a ranked read, and says which model measured it', async () => {
    const rises = await risesOf(() => search('zanzibar on what day?'));
    for (const stage of ['embed', 'scope', 'candidates', 'entries']) {
      expect(rises.get(`palimpsest_recall_stage_duration_seconds_count{stage="${stage}"}`), stage).toBe(1);
    }
    expect(rises.get(`palimpsest_recalls_total{model="${CLOUD}",degraded="false",exact="true"}`)).toBe(1);
    const ok = `model="${CLOUD}",purpose="query",outcome="ok"`;
    expect(rises.get(`palimpsest_embedding_call_duration_seconds_count{${ok}}`)).toBe(1);
    expect(rises.get(`palimpsest_embedding_texts_total{model="${CLOUD}",purpose="query"}`)).toBe(1);
  });

  test('says that a service fails, that it is left alone, and who answers in its place', async () => {
    service.always({ kind: 'status', status: 500 });
    const rises = await risesOf(async () => {
      await search('zanzibar, once more');
      await search('zanzibar, and once more');
      await write('A second text.');
    });
    service.always({ kind: 'answer' });
    const failed = `model="${CLOUD}",purpose="query",outcome="server_error"`;
    expect(rises.get(`palimpsest_embedding_call_duration_seconds_count{${failed}}`)).toBe(2);
    expect(rises.get(`palimpsest_embedding_fallbacks_total{model="${LOCAL}",instead_of="${CLOUD}"}`)).toBe(2);
    expect(rises.get(`palimpsest_recalls_total{model="${LOCAL}",degraded="true",exact="true"}`)).toBe(2);
    expect(rises.get(`palimpsest_embedding_circuit_open{model="${CLOUD}"}`)).toBe(1);
    expect(rises.get(`palimpsest_embedding_missing_total{model="${CLOUD}"}`)).toBe(1);
  });

  test('shows the store, its connections and sizes, and the process', async () => {
    const { samples } = await scrape(server.url);
    expect(samples.get('palimpsest_store_up')).toBe(1);
    expect(samples.get('palimpsest_store_connections{state="most"}')).toBe(1);
    expect(samples.get('palimpsest_store_connections{state="open"}')).toBe(1);
    expect(samples.get('palimpsest_table_bytes{table="memories"}')).toBeGreaterThan(0);
    const index = 'palimpsest_index_bytes{table="memories",index="memories_live_content"}';
    expect(samples.get(index)).toBeGreaterThan(0);
    expect(samples.get('palimpsest_audit_dropped_total{what="reads"}')).toBe(0);
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(0);
  });

  test('tells nothing of what is stored or asked, and of nobody', async () => {
    const { text } = await scrape(server.url);
    expect(text).toContain('palimpsest_http_request_duration_seconds_count');
    expect(text).not.toMatch(/zanzibar|quagga|[.]ada[.]|0198f6a2|127[.]0[.]0[.]1/);
  });

  test('is documented, each measure with its kind, its labels and its meaning', async () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'operations.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(palimpsest_\w+)` \| (\w+) \| (.*?) \| (.*) \|$/gm)];
    const documented = new Map(rows.map(([, name = '', ...cells]) => [name, cells]));
    const { metrics } = parseScrape((await createMetrics().read()).text);
    const own = [...metrics].filter(([name]) => name.startsWith('palimpsest_'));
    expect([...documented.keys()].sort()).toEqual(own.map(([name]) => name).sort());
    for (const [name, { type, help }] of own) {
      expect(documented.get(name)?.[0], name).toBe(type);
      expect(documented.get(name)?.[2], name).toBe(help);
    }
    for (const [name, labels] of labelsSeen(await scrape(server.url))) {
      expect(documented.get(name)?.[1]?.match(/\w+/g) ?? [], name).toEqual(labels);
    }
  });
});

/** Labels by measure, without those that a histogram has of itself. */
function labelsSeen({ samples, metrics }: Scrape): Map<string, string[]> {
  const seen = new Map<string, string[]>();
  for (const sample of samples.keys()) {
    const [, name = '', labels = ''] =
      /^(palimpsest_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})?$/.exec(sample) ?? [];
    const names = [...labels.matchAll(/(\w+)="/g)]
      .map(([, label = '']) => label)
      .filter((label) => label !== 'le');
    if (metrics.has(name)) seen.set(name, names);
  }
  return seen;
}

test('the very first answer of a process is whole', async () => {
  await server.close();
  server = await start({});
  const { samples } = await scrape(server.url);
  expect(samples.get('palimpsest_store_up')).toBe(1);
  expect(samples.get('palimpsest_table_bytes{table="memories"}')).toBeGreaterThan(0);
});

test('a database that does not answer is told in time, and its sizes are missing', async () => {
  const metrics = createMetrics();
  const counts = { waiting: 0, written: 0, dropped: 0 };
  metrics.watch({
    sizes: () => new Promise(() => {}),
    connections: () => ({ open: 1, idle: 0, waiting: 3, most: 1 }),
    recorded: () => ({ reads: counts, refusals: counts }),
  });
  const { samples, text } = parseScrape((await metrics.read()).text);
  expect(samples.get('palimpsest_store_up')).toBe(0);
  expect(samples.get('palimpsest_store_connections{state="waiting"}')).toBe(3);
  expect(text).not.toContain('palimpsest_table_bytes{');
});

describe('who may read them', () => {
  const TOKEN = 'a token for the scraper';
  const REQUIRED = { PALIMPSEST_AUTH: 'required' };

  test.each<[string, Environment, Record<string, string>, number]>([
    [
      'with the token, whoever shows it',
      { ...REQUIRED, PALIMPSEST_METRICS_TOKEN: TOKEN },
      bearer(TOKEN),
      200,
    ],
    [
      'with the token, nobody else',
      { ...REQUIRED, PALIMPSEST_METRICS_TOKEN: TOKEN },
      bearer('another one'),
      401,
    ],
    ['also where nobody is asked otherwise', { PALIMPSEST_METRICS_TOKEN: TOKEN }, {}, 401],
    ['without one, nobody where identities are required', REQUIRED, {}, 403],
    ['nobody where they are switched off', { PALIMPSEST_METRICS: 'off' }, {}, 404],
  ])('%s', async (_name, environment, headers, status) => {
    await server.close();
    server = await start(environment);
    expect((await fetch(`${server.url}/metrics`, { headers })).status).toBe(status);
  });
});

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

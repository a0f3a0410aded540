import { context, propagation, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSpanExport } from '../../src/telemetry/start-span-export.ts';
import { type ReceivedSpan, type SpanCollector, startSpanCollector } from '../helpers/span-collector.ts';
import { JSON_BODY, openTestHttp, type TestHttp } from '../helpers/test-http.ts';

/** The real SDK and exporter, and what a collector gets of them. */

const CALLER_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER_SPAN = '00f067aa0ba902b7';
const problems: string[] = [];

let collector: SpanCollector;
let http: TestHttp;

beforeAll(async () => {
  collector = await startSpanCollector();
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  process.env.OTEL_SERVICE_NAME = 'memories-of-this-test';
  const sending = await startSpanExport({ version: '1.2.3', onProblem: (problem) => problems.push(problem) });
  http = await openTestHttp();
  const headers = { ...JSON_BODY, traceparent: `00-${CALLER_TRACE}-${CALLER_SPAN}-01` };
  const draft = { namespace: 'vector.user.ada.quagga', content: 'The zanzibar contract.' };
  await http.inject({ method: 'POST', url: '/v1/memories', headers, payload: JSON.stringify(draft) });
  const query = { query: 'zanzibar on what day?' };
  await http.inject({ method: 'POST', url: '/v1/memories/search', headers, payload: JSON.stringify(query) });
  await http.get('/v1/memories/0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f');
  await sending.stop();
});

afterAll(async () => {
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  delete process.env.OTEL_SERVICE_NAME;
  for (const api of [trace, context, propagation]) api.disable();
  await http.close();
  await collector.close();
});

function spanNamed(name: string): ReceivedSpan {
  const found = collector.spans.filter((span) => span.name === name);
  expect(found, name).toHaveLength(1);
  return found[0] as ReceivedSpan;
}

describe('spans', () => {
  test('a request continues the trace of its caller, and its work stands below it', () => {
    const request = spanNamed('POST /v1/memories/search');
    expect(request).toMatchObject({ traceId: CALLER_TRACE, parentSpanId: CALLER_SPAN });
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/memories/search',
      'http.response.status_code': 200,
    });
    const recall = spanNamed('palimpsest.recall');
    expect(recall).toMatchObject({ traceId: CALLER_TRACE, parentSpanId: request.spanId });
    expect(recall.attributes).toEqual({
      'palimpsest.embedding_model': 'hashing-512-v1',
      'palimpsest.degraded': false,
      'palimpsest.exact': true,
    });
    for (const stage of ['embed', 'scope', 'candidates', 'entries']) {
      expect(spanNamed(`palimpsest.recall.${stage}`).parentSpanId).toBe(recall.spanId);
    }
  });

  test('a write says how many entries it made', () => {
    const request = spanNamed('POST /v1/memories');
    const remember = spanNamed('palimpsest.remember');
    expect(remember.parentSpanId).toBe(request.spanId);
    expect(remember.attributes).toEqual({ 'palimpsest.entries.create': 1 });
  });

  test('a refusal is told by its code', () => {
    const request = spanNamed('GET /v1/memories/:id');
    expect(request.traceId).not.toBe(CALLER_TRACE);
    expect(request.attributes).toMatchObject({ 'http.response.status_code': 404, 'error.type': 'not_found' });
    const get = spanNamed('palimpsest.get');
    expect(get.attributes).toEqual({ 'error.type': 'not_found' });
    expect(get.status.message).toBeUndefined();
  });

  test('hold nothing of what is stored or asked, and nobody’s id', () => {
    expect(collector.bodies.join()).toContain('palimpsest.recall');
    expect(collector.bodies.join()).not.toMatch(/zanzibar|quagga|0198f6a2|"ada"/);
  });

  test('name the service as the variables say, and its version', () => {
    expect(collector.resources[0]).toMatchObject({
      'service.name': 'memories-of-this-test',
      'service.version': '1.2.3',
    });
    expect(problems).toEqual([]);
  });

  test('the log names the trace of each request', () => {
    const lines = http
      .logged()
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
    const line = lines.find(({ path }) => path === '/v1/memories/search');
    expect(line).toMatchObject({ msg: 'request', trace_id: CALLER_TRACE });
  });
});

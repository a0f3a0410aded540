import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpServer, serveHttp } from '../../src/http/serve-http.ts';
import { openTestHttp, type TestHttp } from '../helpers/test-http.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'http-api.md'), 'utf8');
const FENCES = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, script]) => script ?? '');

let http: TestHttp;
let server: HttpServer;
let key: string;

beforeAll(async () => {
  http = await openTestHttp({ asksForKeys: true });
  server = await serveHttp(http.app, { host: '127.0.0.1', port: 0 });
  key = await http.makeKey('ada');
});

afterAll(async () => {
  await server.close();
  await http.close();
});

test('the page has examples', () => {
  expect(FENCES.length).toBeGreaterThanOrEqual(7);
});

/** In the order of the page: later ones find what earlier ones stored. */
test.each(FENCES.map((script, place) => [place + 1, script]))('example %i', async (_place, script) => {
  const env = { PATH: process.env.PATH, URL: server.url, KEY: key };
  // `--fail-with-body`: curl alone calls a refusal a success.
  const strict = `curl() { command curl --fail-with-body "$@"; }\n${script}`;
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', strict], { env });
  expect(stdout).not.toBe('');
  expect(stdout).not.toContain('"error":{');
});

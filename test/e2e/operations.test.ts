import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scrape } from '../helpers/scrape.ts';
import { startServer } from '../helpers/server-process.ts';
import { startSpanCollector } from '../helpers/span-collector.ts';

/** A real server as its operator watches and stops it. */

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'palimpsest-operations-'));
});

afterEach(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

interface Doctor {
  readonly code: number | null;
  readonly checks: readonly { readonly name: string; readonly status: string; readonly found: string }[];
}

function doctor(): Promise<Doctor> {
  const argv = [MAIN, 'doctor', '--json', '--data-dir', dataDir];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, argv, (_error, stdout) =>
      resolve({ code: child.exitCode, checks: JSON.parse(stdout).checks }),
    );
  });
}

describe('a server', () => {
  it('is measured, says that it stops before it does, and sends its spans before it ends', async () => {
    const collector = await startSpanCollector();
    const server = await startServer(['--data-dir', dataDir], {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      PALIMPSEST_STOP_DELAY_SECONDS: '10',
    });
    try {
      await server.post('/v1/memories', { namespace: 'team.notes', content: 'We deploy on Tuesdays.' });
      const { samples } = await scrape(server.url);
      expect(samples.get('palimpsest_entries_written_total{operation="create"}')).toBe(1);
      expect((await server.get('/readyz')).status).toBe(200);

      const ended = server.end('SIGTERM');
      await expect.poll(async () => (await server.get('/readyz')).status, { timeout: 8_000 }).toBe(503);
      expect((await server.get('/v1/memories')).status).toBe(200);
      expect(await ended).toBe(0);
      const names = collector.spans.map(({ name }) => name);
      expect(names).toContain('POST /v1/memories');
      expect(names).toContain('palimpsest.remember');
      expect(collector.resources[0]).toMatchObject({ 'service.name': 'palimpsest' });
    } finally {
      await collector.close();
    }
  });

  it('is looked at by doctor while it runs and afterwards', async () => {
    const server = await startServer(['--data-dir', dataDir]);
    const during = await doctor();
    expect(during.code).toBe(0);
    const held = during.checks.find(({ name }) => name === 'database');
    expect(held?.status).toBe('warn');
    expect(held?.found).toContain(String(server.pid));
    await server.end('SIGTERM');
    const after = await doctor();
    expect(after.checks.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(after.checks.map(({ name }) => name)).toContain('row-level security');
    expect(after.code).toBe(0);
  });
});

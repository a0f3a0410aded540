import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startMixedLoad } from '../helpers/mixed-load.ts';
import { runProgram } from '../helpers/run-program.ts';
import { startServer } from '../helpers/server-process.ts';
import { storedContents } from '../helpers/stored-contents.ts';

// Several starts a test, each of seconds where others need the machine too.
vi.setConfig({ testTimeout: 300_000 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-backup-e2e-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);

it('a backup of a server under load holds every write acknowledged before, and becomes a server again', async () => {
  const server = await startServer(['--data-dir', at('served')]);
  const load = startMixedLoad({
    url: server.url,
    namespace: 'team.notes',
    clients: 3,
    timeLimitMs: 120_000,
  });
  await load.until(() => load.report.acknowledged.length >= 10);
  const before = [...load.report.acknowledged];
  const made = await runProgram(['backup', 'create', at('a.backup'), '--data-dir', at('served'), '--json']);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const goal = load.report.acknowledged.length + 5;
  await load.until(() => load.report.acknowledged.length >= goal);
  const { faults } = await load.stop();
  expect(faults).toEqual([]);
  expect(load.count('write lost') + load.count('recall lost')).toBe(0);
  expect(await server.end('SIGTERM')).toBe(0);
  expect(readdirSync(at('served')).filter((name) => name.includes('copy'))).toEqual([]);

  const { rows, size } = JSON.parse(made.stdout);
  expect(rows.memories).toBeGreaterThanOrEqual(before.length);
  expect(size).toBe(statSync(at('a.backup')).size);
  expect(statSync(at('a.backup')).mode & 0o777).toBe(0o600);
  const checked = await runProgram(['backup', 'verify', at('a.backup')]);
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining(`${rows.memories} entries`) });

  const restored = await runProgram(['backup', 'restore', at('a.backup'), '--data-dir', at('restored')]);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(`${rows.memories} entries`) });
  const again = await startServer(['--data-dir', at('restored')]);
  const stored = await storedContents(again);
  expect(before.filter((content) => !stored.has(content))).toEqual([]);
  expect(stored.size).toBe(rows.memories);
  expect((await again.post('/v1/memories', { namespace: 'team.notes', content: 'new' })).status).toBe(201);
  const found = await again.post('/v1/memories/search', { query: before[0] });
  expect(((await found.json()) as { hits: { entry: { content: string } }[] }).hits[0]?.entry.content).toBe(
    before[0],
  );
  expect(await again.end('SIGTERM')).toBe(0);
});

it('a running server gives a backup to the operator of its machine, and to no key of an administrator', async () => {
  const dataDir = at('guarded');
  const key = await runProgram(
    [
      'keys',
      'create',
      '--user',
      'root',
      '--name',
      'all',
      '--scope',
      'admin',
      '--scope',
      'read',
      '--scope',
      'write',
    ],
    { PALIMPSEST_DATA_DIR: dataDir },
  );
  const secret = key.stdout.split('\n', 1)[0] ?? '';
  const server = await startServer(['--data-dir', dataDir], { PALIMPSEST_AUTH: 'required' });
  const ask = (headers: Record<string, string>) =>
    fetch(`${server.url}/operator/copy`, { method: 'POST', headers });
  const me = await fetch(`${server.url}/v1/users/me`, { headers: { authorization: `Bearer ${secret}` } });
  expect(me.status).toBe(200);
  for (const headers of [{}, { authorization: `Bearer ${secret}` }, { 'x-api-key': secret }]) {
    const refused = await ask(headers);
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ error: { code: 'unauthenticated' } });
  }
  const holder = join(dataDir, 'palimpsest.holder.json');
  expect(statSync(holder).mode & 0o777).toBe(0o600);
  const { operatorToken } = JSON.parse(readFileSync(holder, 'utf8'));
  expect(
    (await fetch(`${server.url}/v1/users/me`, { headers: { authorization: `Bearer ${operatorToken}` } }))
      .status,
  ).toBe(401);
  const given = await ask({ authorization: `Bearer ${operatorToken}` });
  expect(given.status).toBe(200);
  const { folder: copied } = (await given.json()) as { folder: string };
  expect(existsSync(join(copied, 'PG_VERSION'))).toBe(true);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  expect(await server.end('SIGTERM')).toBe(0);
});

it('an answer that names another folder costs nothing: what listens there may be another program by now', async () => {
  const dataDir = at('posed');
  const victim = at('victim');
  mkdirSync(victim);
  writeFileSync(join(victim, 'diary'), 'dear');
  const server = await startServer(['--data-dir', dataDir]);
  const facts = { productVersion: '0', schemaVersion: 1, postgresVersion: '1', createdAt: '', rows: {} };
  const poser = createServer((_request, response) =>
    response.end(JSON.stringify({ folder: victim, ...facts })),
  );
  await new Promise<void>((resolve) => poser.listen(0, '127.0.0.1', resolve));
  const address = poser.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const holder = join(dataDir, 'palimpsest.holder.json');
  const record = JSON.parse(readFileSync(holder, 'utf8'));
  writeFileSync(holder, JSON.stringify({ ...record, url: `http://127.0.0.1:${port}` }));
  const made = await runProgram(['backup', 'create', at('posed.backup'), '--data-dir', dataDir]);
  expect(made.code).not.toBe(0);
  expect(made.stderr).toContain('is not the server that holds the store');
  expect(readFileSync(join(victim, 'diary'), 'utf8')).toBe('dear');
  expect(existsSync(at('posed.backup'))).toBe(false);
  poser.close();
  await server.end('SIGTERM');
});

it('a backup that is given up while it is packed leaves neither its copy nor a part of its file', async () => {
  const dataDir = at('given-up');
  const server = await startServer(['--data-dir', dataDir]);
  const copy = 'postgres.copy-01234567-89ab-4cde-8f01-23456789abcd';
  const facts = { productVersion: '0', schemaVersion: 1, postgresVersion: '1', createdAt: '', rows: {} };
  // Stands in for the server, to say when: its copy takes many turns to read, and the signal is there before the first.
  const holder = createServer((_request, response) => {
    mkdirSync(join(dataDir, copy));
    writeFileSync(join(dataDir, copy, 'large'), '');
    truncateSync(join(dataDir, copy, 'large'), 2 ** 30);
    child.kill('SIGINT');
    response.end(JSON.stringify({ folder: copy, ...facts }));
  });
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const address = holder.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const record = JSON.parse(readFileSync(join(dataDir, 'palimpsest.holder.json'), 'utf8'));
  writeFileSync(
    join(dataDir, 'palimpsest.holder.json'),
    JSON.stringify({ ...record, url: `http://127.0.0.1:${port}` }),
  );
  let stderr = '';
  const child = execFile(process.execPath, [
    join(import.meta.dirname, '../../src/cli/main.ts'),
    'backup',
    'create',
    at('given-up.backup'),
    '--data-dir',
    dataDir,
  ]);
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(1);
  expect(stderr).toContain('The backup was given up, and nothing of it was kept.');
  expect(existsSync(join(dataDir, copy))).toBe(false);
  expect(readdirSync(folder).filter((name) => name.startsWith('given-up.'))).toEqual([]);
  holder.close();
  await server.end('SIGTERM');
});

it('a backup replaces nothing, and what can not be backed up or restored is refused in words', async () => {
  writeFileSync(at('taken.backup'), 'another one');
  const [taken, nowhere, postgres, damaged] = await Promise.all([
    runProgram(['backup', 'create', at('taken.backup'), '--data-dir', at('none')]),
    runProgram(['backup', 'create', at('b.backup'), '--data-dir', at('none')]),
    runProgram(['backup', 'create', at('b.backup'), '--database-url', 'postgres://127.0.0.1:1/none']),
    runProgram(['backup', 'restore', at('taken.backup'), '--data-dir', at('none')]),
  ]);
  expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') });
  expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no store') });
  expect(postgres).toMatchObject({ code: 2, stderr: expect.stringContaining('pg_dump') });
  expect(damaged).toMatchObject({ code: 2, stderr: expect.stringContaining('damaged') });
  expect(readFileSync(at('taken.backup'), 'utf8')).toBe('another one');
  expect(existsSync(at('none')) || existsSync(at('b.backup'))).toBe(false);
  expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
});

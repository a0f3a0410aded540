import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { lockDataDirectory } from '../../src/store/data-directory-lock.ts';
import { type ExistingStores, existingStores, holderOf } from '../helpers/existing-stores.ts';
import {
  type Environment,
  type McpProcess,
  mcpCommand,
  type RawMcpProcess,
  startMcp,
  startRawMcp,
} from '../helpers/mcp-process.ts';
import { type ServerProcess, startServer } from '../helpers/server-process.ts';

/** `palimpsest mcp` as a process: what it writes where, with whom it shares the data, and how it ends. */

let stores: ExistingStores;
const toClose: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  stores = await existingStores();
});
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
});
afterAll(() => stores.dispose());

async function mcp(dataDir: string, env: Environment = {}): Promise<McpProcess> {
  const started = await startMcp(['--data-dir', dataDir], env);
  toClose.push(() => started.close());
  return started;
}

async function serve(dataDir: string, env: Environment = {}): Promise<ServerProcess> {
  const started = await startServer(['--data-dir', dataDir], env);
  toClose.push(() => started.end('SIGKILL'));
  return started;
}

function rawMcp(args: readonly string[], env: Environment = {}, cwd?: string): RawMcpProcess {
  const started = startRawMcp(args, env, cwd);
  toClose.push(async () => {
    started.child.kill('SIGKILL');
    await started.ended;
  });
  return started;
}

const WRITE = { content: 'We use PostgreSQL.', namespace: 'vector.user.local.notes' };
const searchCall = (id: number, query = 'PostgreSQL') => ({
  id,
  method: 'tools/call',
  params: { name: 'memory_search', arguments: { query } },
});
const contents = async (client: McpProcess) => {
  const { memories } = await client.answer('memory_list');
  return (memories as { content: string }[]).map(({ content }) => content).sort();
};

/** Waits until nobody holds a data directory, and its holder left it in order. */
async function expectReleased(dataDir: string): Promise<void> {
  await expect.poll(() => holderOf(dataDir), { timeout: 200_000, interval: 100 }).toBeUndefined();
  (await lockDataDirectory(dataDir)).release();
}

describe('standard output holds JSON-RPC and nothing else', () => {
  const expectMessages = ({ lines }: RawMcpProcess) => {
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  };

  test('G10: with everything logged, warnings of Node and packages that print', async () => {
    const noise = `
      process.emitWarning('a warning');
      setInterval(() => { console.log('a stray line'); process.stdout.write('another'); }, 20).unref();
      new (await import('node:worker_threads')).Worker('console.log("from a worker")', { eval: true });`;
    const preload = `data:text/javascript,${encodeURIComponent(noise)}`;
    const env = {
      NODE_OPTIONS: `--trace-warnings --pending-deprecation --import=${preload}`,
      PALIMPSEST_LOG_LEVEL: 'trace',
      NODE_DEBUG: 'http,net',
    };
    const server = rawMcp(['--data-dir', stores.next()], env);
    await server.initialize();
    server.write('this is no JSON, and a secret');
    server.send({ hello: 'there' });
    server.send(searchCall(1));
    server.send({ id: 2, method: 'tools/call', params: { name: 'memory_write', arguments: WRITE } });
    server.send({ id: 3, method: 'no/such/method' });
    await Promise.all([1, 2, 3].map((id) => server.answer(id)));
    server.child.stdin?.end();
    expect(await server.ended).toBe(0);
    expectMessages(server);
    expect(server.lines).toHaveLength(4);
    // The noise was made, and went elsewhere.
    for (const text of ['a warning', 'a stray line', 'another', 'from a worker', '"level":'])
      expect(server.stderr()).toContain(text);
    expect(server.stderr(), 'what could not be read is not logged').not.toContain('a secret');
  });

  test('on SIGTERM: what was asked is answered, the data is let go of, and the process ends', async () => {
    const dataDir = stores.next();
    const server = rawMcp(['--data-dir', dataDir]);
    await server.initialize();
    server.send(searchCall(1));
    await server.answer(1);
    expect(holderOf(dataDir)).toMatchObject({ pid: server.child.pid });
    for (let id = 2; id < 12; id += 1) server.send(searchCall(id));
    await server.answer(2);
    server.child.kill('SIGTERM');
    // The client's end of the pipe stays open all the while.
    expect(await server.ended).toBe(0);
    expectMessages(server);
    await expectReleased(dataDir);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('on %s before anything was asked', async (signal) => {
    const server = rawMcp(['--data-dir', stores.next()]);
    await server.initialize();
    server.child.kill(signal);
    expect(await server.ended).toBe(0);
    expectMessages(server);
  });

  test('what is set and not used is told at the start, once, before anything is asked', async () => {
    const project = join(stores.folder, 'a-project');
    mkdirSync(join(project, 'config'), { recursive: true });
    writeFileSync(join(project, 'config', 'embedding.config.json'), '{}');
    const server = rawMcp(['--data-dir', stores.next()], {}, project);
    const told = () => server.stderr().split('and is not used').length - 1;
    await expect.poll(told).toBe(1);
    await server.initialize();
    server.send(searchCall(1));
    await server.answer(1);
    server.child.stdin?.end();
    expect(await server.ended).toBe(0);
    expect(told()).toBe(1);
    expectMessages(server);
    expect(server.lines).toHaveLength(2);
  });

  test.each<[string, string[], Environment, string]>([
    ['an unknown option', ['--colour', 'red'], {}, '--colour'],
    ['a word too many', ['now'], {}, 'too many arguments'],
    ['an option without its value', ['--agent'], {}, '--agent'],
    ['a log level that is none', ['--log-level', 'loud'], {}, 'loud'],
    ['an unknown variable', [], { PALIMPSEST_DATADIR: 'x' }, 'PALIMPSEST_DATA_DIR'],
    ['two places for the data', ['--data-dir', 'a', '--database-url', 'postgres://b/c'], {}, 'two places'],
  ])('with %s: nothing at all, and the reason on standard error', async (_, args, env, reason) => {
    const server = rawMcp(args, env);
    expect(await server.ended).toBe(2);
    expect(server.lines).toEqual([]);
    expect(server.stderr()).toContain(reason);
  });
});

test('a data directory that can not be opened is told to the model that asks', async () => {
  const file = join(stores.folder, 'a-file');
  writeFileSync(file, 'not a folder');
  const client = await mcp(join(file, 'data'));
  const { code, message } = await client.refusal('memory_search', { query: 'q' });
  expect([code, message]).toEqual(['invalid_config', expect.stringContaining(file)]);
});

describe('one data directory, many processes:', () => {
  test('servers that start at once share what is written, and the last one that is left has it all', async () => {
    const dataDir = stores.next();
    const clients = await Promise.all(Array.from({ length: 3 }, () => mcp(dataDir)));
    await Promise.all(
      clients.map((client, index) => client.answer('memory_write', { ...WRITE, content: `from ${index}` })),
    );
    const all = ['from 0', 'from 1', 'from 2'];
    for (const client of clients) expect(await contents(client)).toEqual(all);

    const isHolder = ({ pid }: McpProcess) => pid === holderOf(dataDir)?.pid;
    const rest = [...clients];
    while (rest.length > 1) {
      const [holder] = rest.splice(rest.findIndex(isHolder), 1);
      await holder?.close();
      // Each of those left finds a way, one of them by taking the data over.
      for (const answers of await Promise.all(rest.map(contents))) expect(answers).toEqual(all);
      expect(rest.filter(isHolder)).toHaveLength(1);
    }
    for (const { strayLines } of clients) expect(strayLines).toEqual([]);
  });

  test('a server that holds the data may be killed, and come back', async () => {
    const dataDir = stores.next();
    const server = await serve(dataDir);
    const client = await mcp(dataDir);
    await client.answer('memory_write', WRITE);
    expect(holderOf(dataDir)).toMatchObject({ pid: server.pid });

    await server.end('SIGKILL');
    expect(await contents(client), 'opened by itself').toEqual([WRITE.content]);
    expect(holderOf(dataDir)).toMatchObject({ pid: client.pid });
    await client.answer('memory_write', { ...WRITE, content: 'After the server died.' });

    await client.close();
    await serve(dataDir);
    expect(await contents(await mcp(dataDir))).toEqual(['After the server died.', WRITE.content]);
  });

  test('a holder that serves nobody is named, and once it has gone the same client goes on', async () => {
    const dataDir = stores.next();
    // A command that waits for its input holds the data, and listens nowhere.
    const [command, main] = mcpCommand([]);
    const holder = spawn(command, [main ?? '', 'import', '-', '--data-dir', dataDir], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    toClose.push(() => killed(holder));
    await expect.poll(() => holderOf(dataDir)?.pid, { timeout: 200_000 }).toBe(holder.pid);
    const client = await mcp(dataDir);
    const { code, message } = await client.refusal('memory_search', { query: 'q' });
    expect(code).toBe('store_locked');
    expect(message).toContain(`process ${holder.pid} `);
    holder.stdin?.end();
    await once(holder, 'exit');
    expect(await contents(client)).toEqual([]);
  });
});

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('nothing leaks:', () => {
  test('G15: after 1,000 operations and the death of its client a server has no child, and ends', async () => {
    const dataDir = stores.next();
    const parent = spawn(
      process.execPath,
      [join(import.meta.dirname, '..', 'helpers', 'mcp-parent.ts'), dataDir, '1000'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    toClose.push(() => killed(parent));
    const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    expect(holderOf(dataDir)).toMatchObject({ pid: Number(line) });
    expect(childrenOf(Number(line))).toEqual([]);
    await killed(parent);
    await expectReleased(dataDir);
  });

  test.each([
    ['that asks for a key', { PALIMPSEST_AUTH: 'required' }, 'unauthenticated'],
    ['that has had enough', { PALIMPSEST_RATE_LIMIT: '1/3600' }, 'rate_limited'],
  ])('a server %s is not besieged', async (_, env, code) => {
    const dataDir = stores.next();
    const server = await serve(dataDir, { ...env, PALIMPSEST_LOG_LEVEL: 'info' });
    const client = await mcp(dataDir);
    await client.call('memory_list');
    const before = server.requests();
    for (let call = 0; call < 10; call += 1) {
      expect(await client.refusal('memory_list')).toMatchObject({ code });
    }
    // A call that is refused may look for another holder, once.
    await expect.poll(() => server.requests() - before, { timeout: 200_000 }).toBeGreaterThanOrEqual(10);
    expect(server.requests() - before).toBeLessThanOrEqual(20);
  });
});

/** Ids of the processes that a process has started; where the system does not tell, none. */
function childrenOf(pid: number): string[] {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return [];
  return readdirSync(tasks).flatMap((task) => {
    const list = join(tasks, task, 'children');
    return existsSync(list) ? readFileSync(list, 'utf8').split(' ').filter(Boolean) : [];
  });
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeTemplate } from '../../src/store/pglite/template.ts';
import { openPglite } from '../../src/store/pglite.ts';

const WRITER = join(import.meta.dirname, '..', 'helpers', 'embedded-writer.ts');

let folder: string;
let migrations: string;
let template: string;
let round = 0;
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-e2e-'));
  migrations = join(folder, 'migrations');
  mkdirSync(migrations);
  writeFileSync(
    join(migrations, '000001_notes.sql'),
    'CREATE TABLE app.notes (id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY, body text NOT NULL);',
  );
  template = join(folder, 'template.tar.gz');
  writeFileSync(template, gzipSync(await makeTemplate(migrations)));
});
afterEach(async () => {
  for (const child of running.splice(0)) await kill(child);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const freshDirectory = () => {
  round += 1;
  return join(folder, `data-${round}`);
};

interface Writer {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  readonly lines: unknown[];
  /** Resolves with a line that passes, as soon as there is one. */
  next(passes: (line: unknown) => boolean): Promise<unknown>;
}

function startWriter(dataDir: string, mode: 'hold' | 'write'): Writer {
  const child = spawn(process.execPath, [WRITER, dataDir, migrations, template, mode], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  running.push(child);
  const lines: unknown[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line));
    for (const look of waiting) look();
  });
  const next = (passes: (line: unknown) => boolean) =>
    new Promise<unknown>((resolve) => {
      const look = () => {
        const found = lines.find(passes);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { child, lines, next };
}

const isOpen = (line: unknown) => line === 'open';
const isRefusal = (line: unknown) => typeof line === 'object';
const isAcknowledged = (line: unknown): line is number => typeof line === 'number';

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  // `close` comes after the last line was read.
  await once(child, 'close');
}

async function storedIds(dataDir: string): Promise<unknown[]> {
  const database = await openPglite({ dataDir, migrationsDirectory: migrations, template });
  try {
    const rows = await database.transaction((tx) =>
      tx.query({ text: 'SELECT id FROM app.notes WHERE length(body) = 2000 ORDER BY id', values: [] }),
    );
    return rows.map(({ id }) => id);
  } finally {
    await database.close();
  }
}

describe('a data directory', () => {
  it('keeps every acknowledged row over ten SIGKILLs in a write loop', async () => {
    const dataDir = freshDirectory();
    const acknowledged: number[] = [];
    for (let killed = 0; killed < 10; killed += 1) {
      const writer = startWriter(dataDir, 'write');
      await writer.next(() => writer.lines.filter(isAcknowledged).length >= 10);
      // Not a round number of rows: the kill falls into another step of a write each time.
      await new Promise((resolve) => setTimeout(resolve, 60 + 31 * killed));
      await kill(writer.child);
      acknowledged.push(...writer.lines.filter(isAcknowledged));
    }
    const stored = new Set(await storedIds(dataDir));
    expect(acknowledged.length).toBeGreaterThanOrEqual(100);
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  });

  it('is made whole by the next process when the one that made it was killed', async () => {
    const dataDir = freshDirectory();
    for (let killed = 0; killed < 6; killed += 1) {
      const writer = startWriter(dataDir, 'hold');
      // Opening takes about half a second from here: the kills fall before, into and after the unpacking.
      await Promise.race([
        writer.next(isOpen),
        new Promise((resolve) => setTimeout(resolve, 150 + 100 * killed)),
      ]);
      await kill(writer.child);
    }
    expect(await storedIds(dataDir)).toEqual([]);
  });

  it('is refused to a second process, which is told who holds it, and the first is unharmed', async () => {
    const dataDir = freshDirectory();
    const first = startWriter(dataDir, 'write');
    await first.next(isAcknowledged);
    const second = startWriter(dataDir, 'write');
    const refusal = await second.next(isRefusal);
    expect(refusal).toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining(`process ${first.child.pid} on `),
    });
    expect(second.lines.filter(isAcknowledged)).toEqual([]);

    const before = first.lines.length;
    await first.next((line) => isAcknowledged(line) && line > before + 5);
    first.child.stdin?.end();
    await once(first.child, 'close');
    expect(first.child.exitCode).toBe(0);
    expect(await storedIds(dataDir)).toEqual(first.lines.filter(isAcknowledged));
  });

  it('is free the moment its holder is killed, although the record stays behind', async () => {
    const dataDir = freshDirectory();
    const first = startWriter(dataDir, 'hold');
    await first.next(isOpen);
    await kill(first.child);
    expect(JSON.parse(readFileSync(join(dataDir, 'palimpsest.holder.json'), 'utf8'))).toMatchObject({
      pid: first.child.pid,
    });

    const second = startWriter(dataDir, 'hold');
    expect(await second.next((line) => isOpen(line) || isRefusal(line))).toBe('open');
    expect(JSON.parse(readFileSync(join(dataDir, 'palimpsest.holder.json'), 'utf8'))).toMatchObject({
      pid: second.child.pid,
    });
  });

  it('stays taken while its holder is stopped, for a stopped process is not dead', async () => {
    const dataDir = freshDirectory();
    const first = startWriter(dataDir, 'hold');
    await first.next(isOpen);
    first.child.kill('SIGSTOP');
    const second = startWriter(dataDir, 'hold');
    expect(await second.next((line) => isOpen(line) || isRefusal(line))).toMatchObject({
      code: 'store_locked',
    });
    first.child.kill('SIGCONT');
  });

  it('goes to one of many processes that start at once', async () => {
    const dataDir = freshDirectory();
    const writers = Array.from({ length: 4 }, () => startWriter(dataDir, 'hold'));
    const outcomes = await Promise.all(
      writers.map((writer) => writer.next((line) => isOpen(line) || isRefusal(line))),
    );
    expect(outcomes.filter(isOpen)).toHaveLength(1);
  });
});

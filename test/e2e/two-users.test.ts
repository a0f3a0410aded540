import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { runProgram } from '../helpers/run-program.ts';
import { type ServerProcess, startServer } from '../helpers/server-process.ts';
import { describeOrSkip } from '../helpers/skip.ts';
import { createDatabase, DATABASE_URL } from '../helpers/test-database.ts';
import {
  clientSession,
  curlSession,
  NO_CURL,
  type Outcome,
  type UserSession,
  type Warning,
} from '../helpers/user-session.ts';

vi.setConfig({ testTimeout: 300_000 });

/** An empty place for a store, as options of the program. */
interface Place {
  readonly options: string[];
  dispose(): Promise<void>;
}

const PLACES: { backend: string; reason: string | undefined; make(): Promise<Place> }[] = [
  {
    backend: 'an embedded store',
    reason: undefined,
    make: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'palimpsest-two-users-'));
      return {
        options: ['--data-dir', folder],
        dispose: async () => rmSync(folder, { recursive: true, force: true }),
      };
    },
  },
  {
    backend: 'PostgreSQL',
    reason: DATABASE_URL === undefined ? 'DATABASE_URL is not set' : undefined,
    make: async () => {
      const database = await createDatabase();
      return { options: ['--database-url', database.url], dispose: () => database.drop() };
    },
  },
];

const TOOLS = [
  { tool: 'curl', reason: NO_CURL, sessionOf: curlSession },
  { tool: 'the typed client', reason: undefined, sessionOf: clientSession },
];

for (const { backend, reason: noPlace, make } of PLACES) {
  for (const { tool, reason: noTool, sessionOf } of TOOLS) {
    describeOrSkip(noPlace ?? noTool, `two users of one server on ${backend}, with ${tool}`, () => {
      it('write, share and recall; what is the other’s is refused each time and on the record', async () => {
        const place = await make();
        let server: ServerProcess | undefined;
        try {
          const made = await runProgram([
            ...['keys', 'create', '--user', 'root', '--name', 'governance', '--scope', 'admin', '--json'],
            ...place.options,
          ]);
          server = await startServer(place.options, { PALIMPSEST_AUTH: 'required' });
          const { url } = server;
          await liveTogether(sessionOf(url, JSON.parse(made.stdout).secret), (key) => sessionOf(url, key));
          expect(await server.end('SIGTERM')).toBe(0);
        } finally {
          await server?.end('SIGKILL');
          await place.dispose();
        }
      });
    });
  }
}

async function liveTogether(admin: UserSession, sessionOf: (key: string) => UserSession): Promise<void> {
  const ada = sessionOf(value(await admin.makeKey('ada')));
  const bob = sessionOf(value(await admin.makeKey('bob')));
  expect((await ada.makeKey('eve')).code).toBe('forbidden');
  value(await admin.shareWithHelper());

  // Each has something of their own, and both have what an agent may write for everybody.
  const adas = value(
    await ada.remember('vector.user.ada.notes', 'Ada keeps the key to the archive under the fern.'),
  );
  const bobs = value(
    await bob.remember('vector.user.bob.notes', 'Bob keeps the key to the archive in his coat.'),
  );
  value(await bob.remember('vector.user.bob.notes', 'Bob drinks his coffee black.'));
  value(await ada.remember('vector.global.facts', 'The archive opens at nine.', 'helper'));
  expect((await ada.remember('vector.global.facts', 'without the agent')).code).toBe('forbidden');

  const question = 'Where is the key to the archive, and when does it open?';
  const foundByAda = value(await ada.recall(question));
  const foundByBob = value(await bob.recall(question));
  expect(foundByAda.contents.toSorted()).toEqual([adas.content, 'The archive opens at nine.']);
  expect(foundByBob.contents).toContain(bobs.content);
  expect(foundByBob.contents).toContain('The archive opens at nine.');
  expect(foundByBob.contents).not.toContain(adas.content);
  expect(value(await ada.get(adas.id)).content).toBe(adas.content);
  expect((await ada.trace(foundByAda.traceId)).code).toBe('ok');
  expect((await ada.feedback(adas.id, foundByAda.traceId)).code).toBe('ok');

  // By id.
  for (const refused of [await bob.get(adas.id), await bob.history(adas.id), await bob.forget(adas.id)]) {
    expect(refused.code).toBe('not_found');
  }
  // By namespace and by pattern, to read and to write.
  const scope = ['vector.user.ada.notes', 'vector.agent.ada.*'];
  expect(value(await bob.recall(question, { namespaces: scope })).contents).toEqual([]);
  expect(value(await bob.list({ namespace: 'vector.user.ada.*' })).contents).toEqual([]);
  expect((await bob.remember('vector.user.ada.notes', 'Bob was here.')).code).toBe('forbidden');
  // By filter, and by the cursor of the other's list.
  const ownPages = await everyPage((cursor) => bob.list({ tag: 'plain', ...cursor }));
  expect(ownPages).not.toContain(adas.content);
  expect(ownPages).toContain(bobs.content);
  const { cursor } = value(await ada.list({ tag: 'plain' }));
  expect(cursor).not.toBeNull();
  const behindHers = await bob.list({ tag: 'plain', ...(cursor !== null && { cursor }) });
  expect(behindHers.value?.contents ?? []).not.toContain(adas.content);
  // By trace and by feedback, on her entry and with her trace.
  expect((await bob.trace(foundByAda.traceId)).code).toBe('not_found');
  expect((await bob.feedback(adas.id, foundByBob.traceId)).code).toBe('not_found');
  expect((await bob.feedback(bobs.id, foundByAda.traceId)).code).toBe('not_found');

  // Nothing of it changed anything of hers, and every refusal is in the audit.
  expect(value(await ada.get(adas.id)).content).toBe(adas.content);
  const about = (id: string) => ({ memoryId: id });
  await untilRecorded(admin, [
    { operation: 'get', ...about(adas.id) },
    { operation: 'history', ...about(adas.id) },
    { operation: 'forget', ...about(adas.id) },
    { operation: 'recall', namespace: 'vector.user.ada.notes' },
    { operation: 'recall', namespace: 'vector.agent.ada.*' },
    { operation: 'list', namespace: 'vector.user.ada.*' },
    { operation: 'remember', namespace: 'vector.user.ada.notes' },
    { operation: 'get_trace', traceId: foundByAda.traceId },
    { operation: 'feedback', ...about(adas.id) },
    { operation: 'feedback', traceId: foundByAda.traceId },
  ]);
}

function value<T>({ code, value: given }: Outcome<T>): T {
  expect(code).toBe('ok');
  return given as T;
}

async function everyPage(
  page: (cursor: { cursor?: string }) => Promise<Outcome<{ contents: string[]; cursor: string | null }>>,
): Promise<string[]> {
  const contents: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const next = value(await page(cursor === undefined ? {} : { cursor }));
    contents.push(...next.contents);
    cursor = next.cursor;
  }
  return contents;
}

/** Refusals are written behind the answers. */
async function untilRecorded(admin: UserSession, expected: Partial<Warning>[]): Promise<void> {
  const until = performance.now() + 60_000;
  for (;;) {
    const warnings = value(await admin.warningsOf('bob'));
    const missing = expected.filter(
      (wanted) =>
        !warnings.some((warning) =>
          Object.entries(wanted).every(([name, is]) => warning[name as keyof Warning] === is),
        ),
    );
    if (missing.length === 0) return;
    if (performance.now() > until) expect(missing).toEqual([]);
    await sleep(100);
  }
}

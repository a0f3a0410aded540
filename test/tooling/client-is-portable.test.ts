import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'vite';
import { beforeAll, expect, test } from 'vitest';

const PROJECT = join(import.meta.dirname, '..', '..');

let code: string;
let externals: string[];

beforeAll(async () => {
  const result = await build({
    root: PROJECT,
    configFile: false,
    logLevel: 'silent',
    // As for a server, where what Node has would be left outside: here it must not be asked for.
    ssr: { noExternal: true },
    build: {
      ssr: true,
      write: false,
      rolldownOptions: {
        input: join(PROJECT, 'src', 'client', 'index.ts'),
        output: { format: 'iife', name: 'client' },
      },
    },
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('Vite watches instead of building.');
  const [chunk] = output.output;
  code = chunk.code;
  externals = [...chunk.imports, ...chunk.dynamicImports];
}, 60_000);

test('the client needs nothing from outside its bundle, no node: module above all', () => {
  expect(externals).toEqual([]);
});

test('it works where there is what browsers have, and neither process nor Buffer', async () => {
  const answer = JSON.stringify({ entries: [], next_cursor: null });
  const context = createContext({
    URL,
    URLSearchParams,
    TextDecoder,
    TextEncoder,
    AbortSignal,
    DOMException,
    Response,
    atob,
    btoa,
    asked: [] as string[],
    fetch: async (url: string) => {
      context.asked.push(url);
      return new Response(answer);
    },
  });
  runInContext(`${code}\nthis.client = client;`, context);
  const shown: unknown = await runInContext(
    `typeof process === 'undefined' && typeof Buffer === 'undefined' &&
      client.createClient({ baseUrl: 'http://127.0.0.1:7077/' }).list({ limit: 1 }).then(JSON.stringify)`,
    context,
  );
  expect(shown).toBe(JSON.stringify({ entries: [], nextCursor: null }));
  expect(context.asked).toEqual(['http://127.0.0.1:7077/v1/memories?limit=1']);
});

import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DocumentedPage, documentedPage, ROOT } from '../helpers/documented-examples.ts';
import { type ServerProcess, startServer } from '../helpers/server-process.ts';

/** What the pages for beginners say is run as it stands there, against real processes. */

const run = promisify(execFile);
const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs', 'in-five-minutes')).map((file) => `docs/in-five-minutes/${file}`),
];
/** Where pages say that a server is. */
const SHOWN_URL = 'http://127.0.0.1:7077';

let folder: string;
let server: ServerProcess;
/** Where `palimpsest` is a command, and keeps what it stores. */
let commandEnv: { readonly PATH: string; readonly PALIMPSEST_DATA_DIR: string };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-documented-'));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  // What `npm link` makes.
  const command = join(bin, 'palimpsest');
  writeFileSync(
    command,
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'src', 'cli', 'main.ts')}" "$@"\n`,
  );
  chmodSync(command, 0o755);
  symlinkSync(realpathSync(join(ROOT, 'node_modules')), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  commandEnv = {
    PATH: [bin, process.env.PATH].join(delimiter),
    PALIMPSEST_DATA_DIR: join(folder, 'commands'),
  };
  writeFileSync(
    join(placeOf('README.md'), 'corpus.jsonl'),
    '{"namespace":"team.facts","content":"A fact."}\n',
  );
  server = await startServer(['--data-dir', join(folder, 'served')]);
});
afterAll(async () => {
  await server.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

const served = (text: string) => text.replaceAll(SHOWN_URL, server.url);

/** A folder of the page's own, so that each program starts with nothing but the files of the example it shows. */
function placeOf(page: string): string {
  const place = join(folder, page.replaceAll(/\W/g, '-'));
  mkdirSync(place, { recursive: true });
  const model = join(ROOT, 'examples', basename(page, '.md'), 'fake-model.ts');
  if (existsSync(model)) cpSync(model, join(place, 'fake-model.ts'));
  return place;
}

const inPlace = (page: string) => ({ cwd: placeOf(page), env: { ...process.env, ...commandEnv } });

describe.each(PAGES)('%s', (path) => {
  const page: DocumentedPage = documentedPage(path);

  // The program may read what the commands above it have stored.
  test.each(page.fences('sh').filter(isRunnable))('runs %j', async (script) => {
    // `--fail-with-body`: curl alone calls a refusal a success.
    const strict = `curl() { command curl --fail-with-body "$@"; }\n${served(script)}`;
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', strict], inPlace(path));
    expect(stdout).not.toContain('"error":{');
    // What a page has stored, its question finds.
    expect(stdout).not.toMatch(/^Nothing found|"hits":\s*\[\]/m);
  });

  test.runIf(page.program !== undefined)('its program runs, and prints what the page says', async () => {
    const file = join(placeOf(path), 'example.ts');
    writeFileSync(file, served(page.program ?? ''));
    const { stdout } = await run(process.execPath, [file], inPlace(path));
    if (page.prints !== undefined) expect(stdout).toBe(page.prints);
    else expect(stdout).not.toBe('');
  });

  test.each(mcpEntries(page))('an MCP client gets the tools by %j', async (entry) => {
    const client = new Client({ name: 'test', version: '1' });
    const transport =
      'url' in entry
        ? new StreamableHTTPClientTransport(new URL(served(entry.url)))
        : new StdioClientTransport({
            ...entry,
            env: { ...getDefaultEnvironment(), ...commandEnv },
            cwd: placeOf(path),
            stderr: 'ignore',
          });
    await client.connect(transport);
    expect((await client.listTools()).tools).toHaveLength(7);
    await client.close();
  });
});

test('the programs have the right types', async () => {
  for (const path of PAGES) {
    const { program } = documentedPage(path);
    // A page without a program is a module that does nothing.
    writeFileSync(join(placeOf(path), 'typed.ts'), program ?? 'export {};');
  }
  const compilerOptions = {
    noEmit: true,
    rewriteRelativeImportExtensions: false,
    typeRoots: [join(ROOT, 'node_modules', '@types')],
  };
  const include = ['*/typed.ts', join(ROOT, 'src', '**', '*.d.ts')];
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include }),
  );
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error) => error);
  expect(stdout).toBe('');
});

test('the pages show entries of every common form', () => {
  const entries = PAGES.flatMap((path) => mcpEntries(documentedPage(path)));
  expect(entries.filter((entry) => 'url' in entry).length).toBeGreaterThanOrEqual(2);
  expect(entries.filter((entry) => 'command' in entry).length).toBeGreaterThanOrEqual(5);
});

/** Getting, building and testing the project itself is what CI does. */
function isRunnable(script: string): boolean {
  return !/^(git clone|npm )/m.test(script);
}

type McpEntry = { readonly command: string; readonly args: string[] } | { readonly url: string };

/** What clients are told about the server: in JSON under their several names, in TOML, and as commands. */
function mcpEntries(page: DocumentedPage): McpEntry[] {
  const inJson = page.fences('json').flatMap((text) => {
    const config = JSON.parse(text) as Record<string, Record<string, McpEntry> | undefined>;
    return Object.values(config.mcpServers ?? config.servers ?? config.context_servers ?? {});
  });
  const inToml = page.fences('toml').map((text) => {
    const value = (key: string) => JSON.parse(new RegExp(`^${key} = (.*)$`, 'm').exec(text)?.[1] ?? 'null');
    return { command: value('command'), args: value('args') };
  });
  const asCommand = page
    .fences('console')
    .flatMap((text) =>
      [...text.matchAll(/^\$ claude mcp add .*?(?:-- (\S+) (.*)|(http\S+))$/gm)].map(
        ([, command, args = '', url]): McpEntry =>
          url === undefined ? { command: command ?? '', args: args.split(' ') } : { url },
      ),
    );
  return [...inJson, ...inToml, ...asCommand];
}

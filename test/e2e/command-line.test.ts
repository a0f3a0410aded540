import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProgramRun, runProgram } from '../helpers/run-program.ts';

/** The program as a user starts it: real processes, arguments, environment, pipes and signals. */

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

let dataDir: string;

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'palimpsest-cli-'));
});

afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

function run(argv: readonly string[], environment: Record<string, string> = {}): Promise<ProgramRun> {
  return runProgram(argv, { PALIMPSEST_DATA_DIR: dataDir, ...environment });
}

/** The command of a line that `serve` prints, sent by `fetch`: `Label: curl -s URL -H 'name: value' -d 'BODY'`. */
function sendPrinted(line: string, key = ''): Promise<Response> {
  const [, url = '', headers = '', body = ''] = /curl -s (\S+) (-H .*) -d '([^']*)'$/.exec(line) ?? [];
  const sent = [...headers.matchAll(/-H (['"])(.*?): (.*?)\1/g)].map(([, , name = '', value = '']) => [
    name,
    value.replace('$KEY', key),
  ]);
  return fetch(url, { method: 'POST', headers: Object.fromEntries(sent), body });
}

/** The first lines of a running server's standard output. */
async function printedLines(child: ChildProcess, count: number): Promise<string[]> {
  let printed = '';
  for await (const chunk of child.stdout ?? []) {
    printed += String(chunk);
    if (printed.split('\n').length > count) break;
  }
  return printed.split('\n').slice(0, count);
}

describe('palimpsest', () => {
  it('remembers in one process and recalls in the next', async () => {
    const stored = await run(['remember', 'We deploy on Tuesdays.']);
    expect(stored).toMatchObject({ code: 0, stderr: '' });
    const found = await run(['recall', 'When do we deploy?', '--json']);
    expect(JSON.parse(found.stdout).hits[0].entry.content).toBe('We deploy on Tuesdays.');
  });

  it('is quiet when the reader of its output goes away', async () => {
    const lines = Array.from({ length: 3000 }, (_, index) =>
      JSON.stringify({ namespace: 'pipe', content: `${index} ${'x'.repeat(200)}` }),
    );
    const child = spawn(process.execPath, [MAIN, 'import', '-'], {
      env: { ...process.env, PALIMPSEST_DATA_DIR: dataDir },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const imported = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end(lines.join('\n'));
    expect(await imported).toBe(0);
    const pipeline = `"${process.execPath}" "${MAIN}" export - --namespace pipe | head -n 1; echo "codes: \${PIPESTATUS[*]}"`;
    const piped = await new Promise<ProgramRun>((resolve) => {
      const shell = execFile(
        'bash',
        ['-c', pipeline],
        { env: { ...process.env, PALIMPSEST_DATA_DIR: dataDir } },
        (_error, stdout, stderr) => resolve({ code: shell.exitCode, stdout, stderr }),
      );
    });
    expect(piped.stderr).toBe('');
    expect(piped.stdout).toMatch(/^\{"id":.*\}\ncodes: 0 0\n$/);
  });

  it('serve prints what lets a new user store and recall at once, and tells others where it is', async () => {
    const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], {
      env: { ...process.env, PALIMPSEST_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    try {
      const [place = '', store = '', recall = ''] = await printedLines(child, 3);
      const url = /^Palimpsest listens on (http:\/\/127\.0\.0\.1:\d+) /.exec(place)?.[1];
      expect(place).toContain(dataDir);
      expect((await sendPrinted(store)).status).toBe(201);
      const answer = await (await sendPrinted(recall)).json();
      expect(answer).toMatchObject({ hits: [{ entry: { content: 'I prefer tea over coffee.' } }] });

      const second = await run(['recall', 'tea']);
      expect(second).toMatchObject({ code: 3, stdout: '' });
      expect(second.stderr).toContain(`process ${child.pid} `);
      expect(second.stderr).toContain(`Use the server at ${url}`);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
    } finally {
      child.kill('SIGINT');
    }
    expect(await exited).toBe(0);
    expect((await run(['recall', 'tea', '--json'])).code).toBe(0);
  });

  it('serve prints how to get a key where one has to be shown', async () => {
    const made = await run(['keys', 'create', '--user', 'ada', '--name', 'first']);
    const key = made.stdout.trim();
    const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], {
      env: { ...process.env, PALIMPSEST_DATA_DIR: dataDir, PALIMPSEST_AUTH: 'required' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    try {
      const [, keyLine, store = '', recall = ''] = await printedLines(child, 4);
      expect(keyLine).toBe(
        `Key:     KEY=$(palimpsest keys create --user ada --name first --data-dir '${dataDir}')   # while this server is stopped`,
      );
      expect((await sendPrinted(store)).status).toBe(401);
      expect((await sendPrinted(store, key)).status).toBe(201);
      const answer = await (await sendPrinted(recall, key)).json();
      expect(answer).toMatchObject({ hits: [{ entry: { content: 'I prefer tea over coffee.' } }] });
    } finally {
      child.kill('SIGINT');
    }
    expect(await exited).toBe(0);
  });

  it('does not serve where others could reach it without saying who they are', async () => {
    const refused = await run(['serve', '--host', '0.0.0.0', '--port', '0']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('0.0.0.0');
  });

  it('refuses a misspelt variable before it makes anything', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'palimpsest-cli-'));
    try {
      const refused = await run(['list'], { PALIMPSEST_DATA_DIR: elsewhere, PALIMPSEST_DATADIR: 'x' });
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain('Did you mean PALIMPSEST_DATA_DIR?');
      expect(readdirSync(elsewhere)).toEqual([]);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  it('says in one line that a database is not there', async () => {
    const refused = await run(['list', '--database-url', 'postgres://me:secret@127.0.0.1:1/none']);
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toMatch(/^palimpsest: /);
    expect(refused.stderr).not.toContain('secret');
    expect(refused.stderr).not.toMatch(/\n {4}at /);
  });
});

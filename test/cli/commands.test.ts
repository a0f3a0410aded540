import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandsOf, inertProgram, openTestCli, type TestCli } from '../helpers/test-cli.ts';

let cli: TestCli;
let folder: string;

beforeAll(async () => {
  cli = await openTestCli();
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-cli-'));
});

afterAll(async () => {
  await cli.close();
  rmSync(folder, { recursive: true });
});

async function remember(text: string, ...options: string[]): Promise<string> {
  const { stdout } = await cli.run('remember', text, '--json', ...options);
  return JSON.parse(stdout).entry.id;
}

/** The words of an example after the program's name, as a shell would split them. */
function wordsOf(example: string): string[] {
  const words = (example.split(/ [<>] /)[0] ?? '').match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return words.slice(1).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}

const isOurs = (part: string) => part.trimStart().startsWith('palimpsest ');

function pathOf(command: Command): string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}

describe('help', () => {
  test('lists the commands and the exit codes', async () => {
    const { code, stdout } = await cli.run('--help');
    expect(code).toBe(0);
    for (const command of [
      'serve remember recall show list confirm supersede forget restore purge import export rules doctor',
    ].flatMap((names) => names.split(' '))) {
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
    expect(stdout).toContain('3  the store is in use by another process');
  });

  test('of a command shows examples that the command line accepts', async () => {
    for (const command of ['remember', 'recall', 'list']) {
      const { stdout } = await cli.run(command, '--help');
      const examples = stdout.match(/^ {2}\$ palimpsest .*$/gm) ?? [];
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        const argv = wordsOf(example.replace('$', ''));
        expect(await cli.runWith('from standard input', ...argv)).toMatchObject({ code: 0, stderr: '' });
      }
    }
  });

  test('of every command shows examples, and each is a command line that is understood', async () => {
    const commands = commandsOf(inertProgram());
    expect(commands.length).toBeGreaterThan(30);
    for (const command of commands) {
      const path = pathOf(command);
      const { code, stdout } = await cli.run(...path, '--help');
      expect(code).toBe(0);
      const examples = stdout.match(/^ {2}\$ palimpsest .*$/gm) ?? [];
      expect(examples, path.join(' ')).not.toEqual([]);
      for (const example of examples) {
        for (const part of example.replace('$', '').split(' | ').filter(isOurs))
          await expect(inertProgram().parseAsync(wordsOf(part), { from: 'user' })).resolves.toBeDefined();
      }
    }
  });

  test('of a group is asked for by what is none of its commands, which it then lists', async () => {
    const { code, stderr } = await cli.run('rules', 'add', 'team.x');
    expect(code).toBe(2);
    expect(stderr).toContain("'add' is no command of 'rules'. Allowed: list, set, delete.");
    expect(await cli.run('rules')).toEqual(await cli.run('rules', 'list'));
  });

  test('the version', async () => {
    expect(await cli.run('--version')).toEqual({ code: 0, stdout: '1.2.3\n', stderr: '' });
  });
});

describe('remember, recall, show', () => {
  test('a text is stored and found again, for people and for machines', async () => {
    const first = await cli.run('remember', 'The kiln fires at noon.', '--type', 'fact', '--importance', '0');
    expect(first.stdout).toMatch(/^Remembered [0-9a-f-]{36} in vector\.user\.local\.notes\n$/);
    const again = await cli.run('remember', 'The kiln fires at noon.');
    expect(again.stdout).toMatch(/^Refreshed /);
    const { stdout } = await cli.run('recall', 'When does the kiln fire?', '--json');
    const answer = JSON.parse(stdout);
    expect(answer.hits[0].entry).toMatchObject({
      content: 'The kiln fires at noon.',
      type: 'fact',
      importance: 0,
    });
    expect(answer).not.toHaveProperty('trace');
    const table = await cli.run('recall', 'When does the kiln fire?');
    expect(table.stdout).toContain('The kiln fires at noon.');
    const sheet = await cli.run('show', answer.hits[0].entry.id);
    expect(sheet.stdout).toMatch(/^importance {2}0$/m);
    expect(sheet.stdout).toMatch(/\n\nThe kiln fires at noon\.\n$/);
  });

  test.each(['boosted', 'weighted'])('--explain adds up under the %s profile', async (profile) => {
    const namespace = `explain.${profile}`;
    await cli.run('rules', 'set', namespace, '--bonus', '0.25');
    for (const text of [
      'Copper pipes burst.',
      'Copper kettles shine in the sun all day long.',
      'Nothing at all.',
    ]) {
      await remember(text, '-n', namespace);
    }
    const { stdout } = await cli.run(
      ...['recall', 'copper pipes', '-n', namespace, '--profile', profile, '-k', '1', '--explain'],
    );
    const rows = stdout
      .split('\n')
      .filter((line) => /^│ (similarity|bonus|recency|importance|frequency) /.test(line));
    expect(rows.length).toBeGreaterThanOrEqual(3);
    const contributions = rows.map((line) => Number(/([\d.]+) +│$/.exec(line)?.[1]));
    const sum = contributions.reduce((total, contribution) => total + contribution, 0);
    const shown = Number(/the score is their sum.* ([\d.]+) +│/.exec(stdout)?.[1]);
    expect(shown).toBeGreaterThan(0.5);
    // each of at most five numbers is rounded to six places
    expect(Math.abs(sum - shown)).toBeLessThan(5e-6);
    if (profile === 'boosted') expect(stdout).toContain(`bonus of ${namespace}`);
    // every cut candidate says why, with its own sum (whose line may be wrapped)
    const unwrapped = stdout.replace(/ +│\n│ +│ +│ /g, ' ');
    expect(unwrapped).toMatch(/(below|beyond) .*? similarity [\d.]+ \+ .*? = [\d.]+ explain\./);
    expect(stdout).toContain(profile === 'boosted' ? 'below min_score 0.400000' : 'beyond top_k');
  });

  test('nothing above the lines is told apart from nothing at all', async () => {
    await remember('Unrelated words.', '-n', 'lonely');
    const cut = await cli.run('recall', 'words about something else entirely', '-n', 'lonely');
    expect(cut.stdout).toMatch(/^Nothing found: the best of the candidates was cut, below min_score/);
    const none = await cli.run('recall', 'words', '-n', 'no.such.place');
    expect(none.stdout).toBe('Nothing found.\n');
  });

  test('without a query the newest come first', async () => {
    await remember('Older.', '-n', 'browse');
    await remember('Newer.', '-n', 'browse');
    const { stdout } = await cli.run('recall', '-n', 'browse', '--json');
    const hits = JSON.parse(stdout).hits;
    expect(hits.map((hit: { entry: { content: string } }) => hit.entry.content)).toEqual([
      'Newer.',
      'Older.',
    ]);
    expect(hits[0].relevance).toBeNull();
  });

  test('a stored text can’t steer the terminal, in a table, a sheet or JSON', async () => {
    const id = await remember('Red \u001b[31malert\u202e\u009b2J', '--tag', 'a\u0007b', '-n', 'steer');
    const shown = [
      await cli.run('recall', 'red alert', '-n', 'steer', '--min-score', '0', '--explain'),
      await cli.run('list', '-n', 'steer'),
      await cli.run('show', id),
      await cli.run('list', '-n', 'steer', '--json'),
      await cli.run('export', '-', '-n', 'steer'),
    ];
    for (const { code, stdout } of shown) {
      expect(code).toBe(0);
      expect(stdout).toMatch(/U\+001B|\\u001b/);
      expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
    }
  });
});

describe('the life of an entry', () => {
  test('confirm, forget, restore, supersede, history, purge', async () => {
    const id = await remember('We deploy on Mondays.', '-n', 'life');
    expect((await cli.run('confirm', id)).stdout).toMatch(/^Confirmed /);
    expect((await cli.run('show', id)).stdout).toMatch(/^status {6}confirmed$/m);
    expect((await cli.run('confirm', id, '--undo')).stdout).toMatch(/^No longer confirmed: /);
    expect((await cli.run('forget', id)).stdout).toMatch(/^Forgot /);
    expect(JSON.parse((await cli.run('list', '-n', 'life', '--json')).stdout).entries).toEqual([]);
    expect((await cli.run('show', id)).stdout).toMatch(/^status {6}unconfirmed, deleted$/m);
    expect((await cli.run('restore', id)).stdout).toMatch(/^Restored /);
    const superseded = JSON.parse(
      (await cli.run('supersede', id, 'We deploy on Tuesdays.', '--json')).stdout,
    );
    // the new text stands where the old one stood
    expect(superseded.successor).toMatchObject({ namespace: 'life', content: 'We deploy on Tuesdays.' });
    const history = JSON.parse((await cli.run('show', id, '--history', '--json')).stdout);
    expect(history.entries.map(({ content }: { content: string }) => content)).toEqual([
      'We deploy on Mondays.',
      'We deploy on Tuesdays.',
    ]);
    const unsure = await cli.run('purge', id);
    expect(unsure).toMatchObject({ code: 2, stdout: '' });
    expect(unsure.stderr).toContain('Add --yes');
    expect((await cli.run('purge', id, '--yes')).stdout).toBe(`Purged ${id}\n`);
    expect((await cli.run('show', id)).code).toBe(4);
  });

  test('rules are set, listed and removed', async () => {
    await cli.run('rules', 'set', 'cli.rules.*', '--bonus', '0.1', '--description', 'why not');
    expect((await cli.run('rules')).stdout).toMatch(/cli\.rules\.\* +│ +0\.1 │ why not/);
    expect((await cli.run('rules', 'delete', 'cli.rules.*')).stdout).toBe('Removed the rule cli.rules.*\n');
    expect((await cli.run('rules', 'delete', 'cli.rules.*')).code).toBe(4);
  });

  test('doctor finds a new place well, and makes nothing there', async () => {
    const place = join(folder, 'nothing', 'here');
    const { code, stdout } = await cli.run('doctor', '--json', '--data-dir', place);
    const { checks } = JSON.parse(stdout);
    expect(checks.filter(({ status }: { status: string }) => status !== 'ok')).toEqual([]);
    expect(checks.map(({ name }: { name: string }) => name)).toEqual([
      'configuration',
      'disk',
      'database',
      'embedding',
    ]);
    expect(code).toBe(0);
    expect(existsSync(join(folder, 'nothing'))).toBe(false);
  });

  test('doctor says what is wrong and what to do, and ends with 1', async () => {
    const away = ['--database-url', 'postgres://nobody@127.0.0.1:1/nothing'];
    const { code, stdout, stderr } = await cli.run('doctor', ...away);
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAIL.*database/);
    expect(stdout).toContain('Could not connect to PostgreSQL at 127.0.0.1:1');
    expect(stdout).toContain('Check the connection string');
    expect(stderr).toBe('palimpsest: Something is wrong: see above.\n');
    const misspelt = await cli.run('doctor', '--json', '--log-level', 'wran');
    expect(misspelt.code).toBe(1);
    expect(JSON.parse(misspelt.stdout).checks).toMatchObject([
      { name: 'configuration', status: 'fail', advice: 'Did you mean warn?' },
    ]);
  });
});

describe('import and export', () => {
  test('an export comes back whole, through files and through pipes', async () => {
    const line = {
      id: 'x:1',
      namespace: 'trip.a',
      type: 'fact',
      content: 'Round trip.',
      metadata: { userName: 1, 'a.b': [null] },
      tags: ['t'],
      importance: 0,
      observed_at: '2026-05-02T09:30:00.123Z',
      expires_at: '2099-01-01T00:00:00Z',
    };
    const spoken = JSON.stringify({ ...line, speaker: 'Ada' });
    const imported = await cli.runWith(`${spoken}\n`, 'import', '-');
    expect(imported.stdout).toBe('Imported 1 entry: 1 new, 0 refreshed.\n');
    const file = join(folder, 'trip.jsonl');
    expect((await cli.run('export', file, '-n', 'trip.*')).stdout).toBe('Exported 1 entry.\n');
    const exported = readFileSync(file, 'utf8');
    expect(JSON.parse(exported)).toMatchObject({
      ...line,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      expires_at: '2099-01-01T00:00:00.000Z',
      metadata: { ...line.metadata, speaker: 'Ada' },
      source: { kind: 'import', ref: 'x:1' },
    });
    const piped = await cli.run('export', '-', '-n', 'trip.*');
    expect(piped.stdout).toBe(exported);
    const back = await cli.runWith(exported.replaceAll('trip.a', 'trip.b'), 'import', '-', '--json');
    expect(JSON.parse(back.stdout)).toEqual({ stored: 1, created: 1, refreshed: 0 });
    const [copy] = JSON.parse((await cli.run('list', '-n', 'trip.b', '--json')).stdout).entries;
    const kept = ({
      type,
      content,
      metadata,
      tags,
      importance,
      source,
      observed_at,
      expires_at,
    }: typeof copy) => {
      return { type, content, metadata, tags, importance, source, observed_at, expires_at };
    };
    expect(kept(copy)).toEqual(kept(JSON.parse(exported)));
  });

  test('a file that exists is not replaced by accident', async () => {
    const file = join(folder, 'kept.jsonl');
    writeFileSync(file, 'precious');
    const refused = await cli.run('export', file);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('--force');
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect((await cli.run('export', file, '--force')).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toContain('precious');
  });

  test('a bad line stops the import, is named, and says what is stored', async () => {
    const good = (index: number) => JSON.stringify({ namespace: 'lines', content: `Line number ${index}.` });
    const lines = Array.from({ length: 750 }, (_, index) => good(index + 1));
    lines[699] = JSON.stringify({ namespace: 'lines', content: 'x', contents: 'y' });
    const file = join(folder, 'bad.jsonl');
    writeFileSync(file, lines.join('\n'));
    const { code, stdout, stderr } = await cli.run('import', file);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('Line 700: contents: this field is unknown. Did you mean content?');
    // the first batch of 500 was complete before line 700 was read
    expect(stderr).toContain('Stored before it: 500.');
    const broken = await cli.runWith(`${good(1)}\n{"namespace":`, 'import', '-');
    expect(broken.stderr).toContain('Line 2 is not valid JSON');
    const two = await cli.runWith('{"namespace":"lines","conten":"x"}\n', 'import', '-');
    // The message tells what is missing, the hint what is unknown.
    expect(two.stderr).toMatch(/Line 1: content: it is missing.*\n {2}conten: Did you mean content\?\n$/);
  });

  test('an import that is stopped says what is stored, and does not wait for more', async () => {
    const lines = Array.from({ length: 3 }, (_, index) => `{"namespace":"s","content":"Line ${index}."}\n`);
    const { code, stdout, stderr } = await cli.runStopped(lines.join(''), 'import', '-');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('The import was stopped. Stored before that: 0.');
  });

  test.each([
    ['that is a folder', () => folder, 'is a directory'],
    ['that is not there', () => join(folder, 'no.jsonl'), 'no such file'],
  ])('a file %s is refused with the reason', async (_, path, reason) => {
    const { code, stderr } = await cli.run('import', path());
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });

  test('an export that fails or is stopped leaves no file, and one that was there as it was', async () => {
    await cli.run('remember', 'Something to export.');
    const [file, kept] = [join(folder, 'never.jsonl'), join(folder, 'still.jsonl')];
    writeFileSync(kept, 'precious');
    for (const run of [
      (...argv: string[]) => cli.runStopped('', ...argv),
      (...argv: string[]) => cli.run(...argv, '--config', join(folder, 'no.json')),
    ]) {
      expect((await run('export', file)).code).not.toBe(0);
      expect((await run('export', kept, '--force')).code).not.toBe(0);
      expect(readFileSync(kept, 'utf8')).toBe('precious');
      expect(readdirSync(folder).filter((name) => /never|partial/.test(name))).toEqual([]);
    }
  });

  test('lines without a namespace need one from the command line', async () => {
    const line = '{"content":"Homeless."}\n';
    const { stderr } = await cli.runWith(line, 'import', '-');
    expect(stderr).toContain('Line 1: namespace: it is missing');
    expect(stderr).toContain('name one for all lines that have none');
    expect((await cli.runWith(line, 'import', '-', '-n', 'home')).code).toBe(0);
    expect((await cli.run('list', '-n', 'home')).stdout).toContain('Homeless.');
  });

  test('a text longer than an entry can hold is stored in parts', async () => {
    const content = Array.from({ length: 15_000 }, (_, index) => 100_000_000 + index).join(' ');
    const line = JSON.stringify({ id: 'long', namespace: 'long', content });
    expect(Buffer.byteLength(content)).toBe(149_999);
    // in parts of at most 65,536
    expect((await cli.runWith(line, 'import', '-')).stdout).toContain('Imported 3 entries');
    const { entries } = JSON.parse((await cli.run('list', '-n', 'long', '--json')).stdout);
    const parts: { content: string; metadata: { part: number } }[] = entries;
    parts.sort((a, b) => a.metadata.part - b.metadata.part);
    expect(parts.map((entry) => entry.content).join('') === content).toBe(true);
  });
});

describe('what makes no sense', () => {
  test.each<[string, string[], number, string]>([
    ['an unknown command', ['recal'], 2, 'Did you mean recall?'],
    ['an unknown option', ['recall', 'x', '--topk', '3'], 2, "unknown option '--topk'"],
    ['no text', ['remember'], 2, "missing required argument 'text'"],
    ['a number that is none', ['recall', 'x', '-k', 'many'], 2, 'It must be a number'],
    ['top_k 0', ['recall', 'x', '-k', '0'], 2, 'top_k is 0; allowed is a whole number from 1 to 200'],
    ['a filter that is no JSON', ['recall', 'x', '--where', '{'], 2, 'It is not JSON'],
    ['an unknown operator', ['recall', 'x', '--where', '{"a":{"gtr":1}}'], 2, 'Did you mean gt?'],
    ['blank text', ['remember', ' '], 2, 'content: it is blank'],
    ['a bad namespace', ['remember', 'x', '-n', 'a..b'], 2, 'namespace: "a..b"'],
    ['a bad date', ['remember', 'x', '--observed-at', '2026-02-30'], 2, 'does not exist'],
    ['an id that is not there', ['forget', 'nope'], 4, 'There is no memory with id'],
    ['a file that is not there', ['import', '/nonexistent/x.jsonl'], 2, "can't be read"],
    [
      'a port that is none',
      ['serve', '--port', 'http'],
      2,
      '--port is "http"; allowed: a whole number from 0 to 65535',
    ],
    ['two places', ['list', '--data-dir', 'a', '--database-url', 'postgres://h/d'], 2, 'two places'],
    ['supersede without a text', ['supersede', 'x'], 2, 'Give either the text'],
  ])('%s', async (_name, argv, code, message) => {
    const run = await cli.run(...argv);
    expect(run.stderr).toContain(message);
    expect(run).toMatchObject({ code, stdout: '' });
  });

  test('--json tells errors in the shape of the API', async () => {
    const { code, stdout, stderr } = await cli.run('show', 'nope', '--json');
    expect(code).toBe(4);
    expect(stdout).toBe('');
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'not_found' });
  });
});

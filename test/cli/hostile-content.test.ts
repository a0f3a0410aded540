import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOSTILE_CONTENTS, STEERS } from '../helpers/hostile-contents.ts';
import { openTestCli, type TestCli } from '../helpers/test-cli.ts';

/** Whatever was stored, no output of a command moves the terminal, hides text or reorders it. */

let cli: TestCli;

beforeAll(async () => {
  cli = await openTestCli();
});
afterAll(() => cli.close());

/** Runs a command that succeeds, and gives what it shows. */
async function shown(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli.run(...argv);
  expect(code, stderr).toBe(0);
  expect(stdout + stderr).not.toMatch(STEERS);
  return stdout;
}

describe.each(Object.entries(HOSTILE_CONTENTS))('%s', (name, content) => {
  const namespace = `team.hostile${Object.keys(HOSTILE_CONTENTS).indexOf(name)}`;
  const words = content.trim().slice(0, 100);
  let id: string;

  beforeAll(async () => {
    // On standard input: a command line holds no text of 64 KiB everywhere.
    const line = { namespace, content, metadata: { [words]: words }, source: { kind: 'chat', ref: words } };
    const { code } = await cli.runWith(`${JSON.stringify(line)}\n`, 'import', '-');
    expect(code).toBe(0);
    const { entries } = JSON.parse(await shown('list', '-n', namespace, '--json'));
    expect(entries).toMatchObject([{ content, metadata: { [words]: words } }]);
    id = entries[0].id;
  });

  test('in tables, sheets and explanations', async () => {
    const table = await shown('list', '-n', namespace);
    // One entry is one row, whatever its text looks like: three lines of rule and two of text around it.
    expect(table.match(/^│ +\d+ │/gm)).toHaveLength(1);
    await shown('recall', '-n', namespace);
    await shown('recall', 'lunch', '-n', namespace, '--min-score', '0', '--explain');
    const sheet = await shown('show', id);
    expect(sheet.match(/^id +\S+$/m)?.[0]).toContain(id);
    await shown('show', id, '--history');
  });

  test('in JSON, which gives it back whole', async () => {
    const exported = await shown('export', '-', '-n', namespace);
    expect(exported.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(exported)).toMatchObject({ content });
    expect(JSON.parse(await shown('show', id, '--json'))).toMatchObject({ content });
    const { hits } = JSON.parse(await shown('recall', '-n', namespace, '--json'));
    expect(hits).toMatchObject([{ entry: { content } }]);
  });

  test('in rules, names of keys and errors', async () => {
    await shown('rules', 'set', namespace, '--description', words, '--instruction', `${words} {{content}}`);
    await shown('rules');
    await shown('rules', '--json');
    await shown('keys', 'create', '--user', 'ada', '--name', words);
    await shown('keys');
    // Some of the words are a namespace or an unknown name, others are refused.
    for (const argv of [
      ['recall', 'q', '-n', words],
      ['recall', 'q', '--profile', words],
      ['show', words],
      ['rules', 'delete', words],
      ['list', '--where', words],
      ['remember', 'x', '-n', words],
    ]) {
      const { stdout, stderr } = await cli.run(...argv);
      expect(stdout + stderr).not.toMatch(STEERS);
    }
    const broken = await cli.runWith(`${words}\n`, 'import', '-');
    expect(broken.code).not.toBe(0);
    expect(broken.stdout + broken.stderr).not.toMatch(STEERS);
  });
});

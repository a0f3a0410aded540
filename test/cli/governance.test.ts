import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestCli, type TestCli } from '../helpers/test-cli.ts';

let cli: TestCli;
let folder: string;

beforeAll(async () => {
  cli = await openTestCli();
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-cli-governance-'));
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await cli.close();
});

describe('policies', () => {
  const policy = {
    read_namespaces: ['vector.user.${user_id}.*', 'vector.global.*'],
    write_namespace: 'vector.agent.${user_id}.runs',
    allow_tool_write: true,
    min_score: 0,
  };

  test('are set from a file, listed, shown as they are set, and removed', async () => {
    const file = join(folder, 'policy.json');
    writeFileSync(file, JSON.stringify(policy));
    expect((await cli.run('policies')).stdout).toBe('There are no policies.\n');
    const set = await cli.run('policies', 'set', 'agent', 'helper', file);
    expect(set).toEqual({
      code: 0,
      stdout: 'The agent helper has this policy from its next request on\n',
      stderr: '',
    });
    expect((await cli.run('policies', 'list')).stdout).toMatch(
      /agent helper │ vector\.user\..* write by tools/,
    );
    const shown = await cli.run('policies', 'show', 'agent', 'helper');
    expect(JSON.parse(shown.stdout)).toMatchObject(policy);
    const again = await cli.runWith(shown.stdout, 'policies', 'set', 'task', 'summary', '-', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({
      policy: { subject: { kind: 'task', id: 'summary' }, ...policy },
      warnings: [],
    });
    const all = JSON.parse((await cli.run('policies', 'list', '--json')).stdout);
    expect(all.policies).toHaveLength(2);
    expect((await cli.run('policies', 'delete', 'task', 'summary')).stdout).toBe(
      'Removed the policy of the task summary\n',
    );
    expect((await cli.run('policies', 'show', 'task', 'summary')).code).toBe(4);
  });

  test('that are doubtful are kept, and told', async () => {
    const draft = '{"read_namespaces":["team.*"],"relative_cutoff":0.9}';
    const { code, stderr } = await cli.runWith(draft, 'policies', 'set', 'agent', 'doubtful', '-');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Warning: .*0\.8/)]);
  });

  test.each([
    ['what is no JSON', 'agent', '{', 'Standard input is not JSON'],
    ['an unknown field', 'agent', '{"read_namespace":[]}', 'Did you mean read_namespaces?'],
    ['an unknown kind', 'team', '{}', 'Allowed choices are agent, task.'],
  ])('refuse %s', async (_, kind, input, told) => {
    const { code, stderr } = await cli.runWith(input, 'policies', 'set', kind, 'x', '-');
    expect([code, stderr]).toEqual([2, expect.stringContaining(told)]);
  });

  test('a file that is not there is told', async () => {
    const { code, stderr } = await cli.run('policies', 'set', 'agent', 'x', join(folder, 'no.json'));
    expect([code, stderr]).toEqual([2, expect.stringContaining("can't be read")]);
  });
});

describe('profiles', () => {
  test('are set, used by a search, shown as they are set, and removed', async () => {
    await cli.run('remember', 'The tide is high at noon.', '-n', 'profiles');
    const draft = { kind: 'boosted', min_score: 5, relative_cutoff: 0 };
    const set = await cli.runWith(JSON.stringify(draft), 'profiles', 'set', 'strict', '-');
    expect(set.stdout).toBe('Searches may use the profile strict\n');
    expect((await cli.run('profiles')).stdout).toMatch(/strict +│ boosted +│ own +│ .*min_score 5/);
    const recalled = await cli.run('recall', 'When is the tide high?', '--profile', 'strict', '--json');
    expect(JSON.parse(recalled.stdout).hits).toEqual([]);
    const shown = JSON.parse((await cli.run('profiles', 'show', 'strict')).stdout);
    expect(shown).toMatchObject(draft);
    const again = await cli.runWith(JSON.stringify(shown), 'profiles', 'set', 'again', '-', '--json');
    expect(JSON.parse(again.stdout).profile).toMatchObject({ profile: { ...shown, name: 'again' } });
    expect((await cli.run('profiles', 'delete', 'strict')).stdout).toBe('Removed the profile strict\n');
    expect((await cli.run('profiles', 'show', 'strict')).code).toBe(4);
  });

  test('the built-in ones are shown, and can not be removed', async () => {
    const weighted = JSON.parse((await cli.run('profiles', 'show', 'weighted')).stdout);
    expect(weighted.weights).toEqual({ similarity: 0.4, recency: 0.2, importance: 0.25, frequency: 0.15 });
    expect((await cli.run('profiles', 'delete', 'weighted')).code).not.toBe(0);
  });
});

test.each([
  ['rules', ['set', 'team.tenants', '--bonus', '0.1'], 'team.tenants'],
  ['policies', ['set', 'agent', 'tenants', '-'], 'agent tenants'],
  ['profiles', ['set', 'tenants', '-'], 'tenants'],
])('%s of another tenant are made there and nowhere else', async (group, words, shown) => {
  const file = group === 'profiles' ? '{"kind":"boosted"}' : '{}';
  expect((await cli.runWith(file, group, ...words, '--tenant', 'acme')).code).toBe(0);
  expect((await cli.run(group, 'list', '--tenant', 'acme')).stdout).toContain(shown);
  expect((await cli.run(group, 'list')).stdout).not.toContain(shown);
});

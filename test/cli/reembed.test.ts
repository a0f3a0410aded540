import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { duration, stateOf } from '../../src/cli/job-progress.ts';
import { openTestCli, type TestCli } from '../helpers/test-cli.ts';

let cli: TestCli;

beforeAll(async () => {
  cli = await openTestCli();
  for (const text of ['The heron waits.', 'The kettle sings.', 'Her sister travels.']) {
    await cli.run('remember', text);
  }
});

afterAll(() => cli.close());

const SMALLER = '{"provider":"hashing","dimensions":64}';

async function modelOf(query: string): Promise<string> {
  return JSON.parse((await cli.run('recall', query, '--json')).stdout).embedding_model_id;
}

describe('reembed', () => {
  test('verifies without a switch, then switches, goes back, and removes what is left over', async () => {
    const verified = await cli.run('reembed', '--to', SMALLER, '--verify-only');
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect(verified.stdout).toMatch(
      /^Job [0-9a-f-]{36}: the whole store to hashing-64-v1\n3 entries: 3 with a vector\nOf the 10 nearest under the old model, 100 % are among/,
    );
    expect(verified.stdout).toContain('searches use the model they used before');
    expect(await modelOf('heron')).toBe('hashing-512-v1');

    const switched = await cli.run('reembed', '--to', SMALLER, '--workers', '2');
    expect(switched.stdout).toMatch(/Searches now use it instead of hashing-512-v1\.\n$/);
    expect(await modelOf('heron')).toBe('hashing-64-v1');

    const status = await cli.run('reembed', 'status');
    expect(status.stdout).toMatch(/active.*hashing-64-v1/);
    expect(status.stdout).toMatch(/[0-9a-f-]{36}.*done.*\* to hashing-64-v1/);

    const back = JSON.parse((await cli.run('reembed', 'rollback', '--json')).stdout);
    expect(back).toMatchObject({ status: 'done', model_id: 'hashing-512-v1', kind: 'change' });
    expect(back).not.toHaveProperty('model');
    expect(await modelOf('heron')).toBe('hashing-512-v1');
    expect((await cli.run('reembed', 'purge')).stdout).toBe('Removed 3 vectors.\n');
  });

  test('a change is paused, resumed and cancelled', async () => {
    // Verified and not switched, so that it stays open.
    await cli.run('reembed', '--to', SMALLER, '--verify-only');
    expect((await cli.run('reembed', 'pause')).stdout).toMatch(/It is paused\.\n$/);
    expect(JSON.parse((await cli.run('reembed', 'status', '--json')).stdout).jobs[0].status).toBe('paused');
    expect(JSON.parse((await cli.run('reembed', 'resume', '--json')).stdout).status).toBe('running');
    expect((await cli.run('reembed', 'cancel')).stdout).toMatch(/It is cancelled\.\n$/);
    expect(await cli.run('reembed', 'cancel')).toMatchObject({ code: 1 });
  });

  test('works on the entries of the tenant that is named, and on no other', async () => {
    const changed = await cli.run('reembed', '--to', SMALLER, '--tenant', 'acme');
    expect(changed).toMatchObject({ code: 0, stderr: '' });
    const modelsOf = async (...options: string[]) => {
      const { stdout } = await cli.run('reembed', 'status', ...options, '--json');
      const { models } = JSON.parse(stdout);
      return models.map(({ model_id }: { model_id: string }) => model_id);
    };
    expect(await modelsOf('--tenant', 'acme')).toEqual(['hashing-64-v1']);
    expect(await modelsOf()).toEqual(['hashing-512-v1']);
    expect(await modelsOf('--tenant', 'default')).toEqual(['hashing-512-v1']);
    // An unset variable of a script names no tenant.
    expect(await cli.run('reembed', 'status', '--tenant', '')).toMatchObject({ code: 2 });
    expect(await cli.run('keys', 'list', '--tenant', ' ')).toMatchObject({ code: 2 });
  });

  test('what makes no sense is refused before anything happens', async () => {
    expect(await cli.run('reembed', '--keep-old', '--purge-old')).toMatchObject({ code: 2 });
    expect(await cli.run('reembed', '--workers', '0')).toMatchObject({ code: 2 });
    expect((await cli.run('reembed', '--to', 'hashin')).stderr).toContain('Did you mean hashing?');
    const same = await cli.run('reembed', '--to', 'hashing');
    expect(same.code).toBe(1);
    expect(same.stderr).toContain('use the model hashing-512-v1 already');
    const pattern = await cli.run('reembed', '--to', SMALLER, '--namespace', 'a.*.b');
    expect(pattern.code).toBe(2);
  });
});

describe('how far a job is', () => {
  test.each([
    [0.2, '1 s'],
    [59, '59 s'],
    [61, '2 min'],
    // 3,700 s are 61.7 minutes
    [3_700, '1 h 2 min'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  test('a failing model is named, and steers no terminal', () => {
    const outage = { failures: 2, retryAt: null, message: '\u001b[2Jdown' };
    const state = stateOf({ entries: 9, settled: 1, refused: 0, perSecond: 1, etaSeconds: 8, outage });
    expect(state).toContain('down');
    expect(state).not.toContain('\u001b');
  });
});

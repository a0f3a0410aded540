import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestCli, type TestCli } from '../helpers/test-cli.ts';

let cli: TestCli;

beforeAll(async () => {
  cli = await openTestCli();
});
afterAll(() => cli.close());

test('a key is made, shown once, listed without its secret, and revoked', async () => {
  expect((await cli.run('keys', 'list')).stdout).toBe('There are no keys.\n');
  const made = await cli.run('keys', 'create', '--user', 'ada', '--name', 'notebook', '--json');
  const { key, secret } = JSON.parse(made.stdout);
  expect(secret).toMatch(/^pal_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
  expect(key).toMatchObject({
    tenant_id: 'default',
    user_id: 'ada',
    name: 'notebook',
    scopes: ['read', 'write', 'feedback'],
    created_by: 'local',
    expires_at: null,
    revoked_at: null,
  });
  const listed = await cli.run('keys', 'list', '--json');
  expect(JSON.parse(listed.stdout)).toEqual({ keys: [key] });
  expect(listed.stdout).not.toContain(secret);
  const table = (await cli.run('keys')).stdout;
  expect(table).toContain('notebook');
  expect(table).toContain('never used');
  expect((await cli.run('keys', 'revoke', key.id)).stdout).toBe('Revoked notebook of ada\n');
  expect((await cli.run('keys', 'list')).stdout).toMatch(/│ revoked +│/);
});

test('scopes, expiry and tenant are as they are said', async () => {
  const { stdout } = await cli.run(
    ...['keys', 'create', '--user', 'root', '--name', 'governance', '--scope', 'admin', '--scope', 'read'],
    ...['--expires-at', '2999-01-01T00:00:00Z', '--tenant', 'acme', '--json'],
  );
  expect(JSON.parse(stdout).key).toMatchObject({
    tenant_id: 'acme',
    scopes: ['read', 'admin'],
    expires_at: '2999-01-01T00:00:00.000Z',
  });
  expect((await cli.run('keys', 'list', '--tenant', 'acme')).stdout).toContain('governance');
  expect((await cli.run('keys', 'list')).stdout).not.toContain('governance');
});

test('the key stands alone on standard output, for a shell to take', async () => {
  const { stdout, stderr } = await cli.run('keys', 'create', '--user', 'bob', '--name', 'n');
  expect(stdout).toMatch(/^pal_\S+\n$/);
  expect(stderr).toMatch(/^This key of bob is shown only now\. Its id is [0-9a-f-]{36}\.\n$/);
});

test.each([
  [['create', '--user', 'a.b', '--name', 'n'], /user_id/],
  [['create', '--user', 'ada', '--name', ' '], /name/],
  [['create', '--user', 'ada', '--name', 'n', '--scope', 'root'], /scopes/],
  [['create', '--user', 'ada', '--name', 'n', '--expires-at', '2001-01-01T00:00:00Z'], /expires_at/],
  [['create', '--user', 'ada'], /--name/],
  [['revoke', 'nonsense'], /no key/],
])('%j is refused', async (argv, message) => {
  const { code, stdout, stderr } = await cli.run('keys', ...argv);
  expect(code).not.toBe(0);
  expect(stdout).toBe('');
  expect(stderr).toMatch(message);
});

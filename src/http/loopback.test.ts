import { expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { isLoopback, requireLocalName, requireLoopback } from './loopback.ts';

test.each(['127.0.0.1', '127.1.2.3', '::1', '0:0:0:0:0:0:0:1', 'localhost', 'LocalHost', 'localhost.'])(
  '%s reaches this machine alone',
  (host) => {
    expect(isLoopback(host)).toBe(true);
    expect(() => requireLoopback(host)).not.toThrow();
  },
);

test.each([
  '0.0.0.0',
  '::',
  '192.168.0.7',
  '128.0.0.1',
  '::ffff:10.0.0.1',
  'example.org',
  'localhost.example.org',
  '127.0.0.1.example.org',
  '',
])('%j may be reached by others, and is refused without an identity source', (host) => {
  expect(isLoopback(host)).toBe(false);
  expect(refusal(() => requireLoopback(host)).code).toBe('invalid_config');
});

test.each(['127.0.0.1:7077', 'localhost', 'localhost:7077', '[::1]:7077', '127.0.0.1'])(
  'a request under the name %s is local',
  (host) => {
    expect(() => requireLocalName(host)).not.toThrow();
  },
);

test.each([
  undefined,
  '',
  'evil.example',
  'evil.example:7077',
  '127.0.0.1.evil.example',
  '[::1',
  'a@evil.example',
])('a request under the name %j came through somebody else’s name, and is refused', (host) => {
  expect(refusal(() => requireLocalName(host)).code).toBe('forbidden');
});

test('a user name before the host does not pass for it', () => {
  expect(refusal(() => requireLocalName('localhost@evil.example')).code).toBe('forbidden');
});

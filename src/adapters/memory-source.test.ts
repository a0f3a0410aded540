import { expect, test } from 'vitest';
import { memoryFinder } from './memory-source.ts';

test('whose memory it is, is asked every time: a host may keep one context for many users', () => {
  const memories = { ada: { of: 'ada' }, bob: { of: 'bob' } };
  const context: { user: 'ada' | 'bob' } = { user: 'ada' };
  const memoryOf = memoryFinder(({ user }: typeof context) => memories[user]);
  expect(memoryOf(context)).toBe(memories.ada);
  context.user = 'bob';
  expect(memoryOf(context)).toBe(memories.bob);
});

test('one memory for all is itself', () => {
  const memory = { name: 'memory' };
  expect(memoryFinder(memory)({})).toBe(memory);
});

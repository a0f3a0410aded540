import { expect, test } from 'vitest';
import { memoryFinder } from './memory-source.ts';

test('a memory is found by the context, once for each context object, so that all steps of a run have the same', () => {
  const asked: unknown[] = [];
  const memoryOf = memoryFinder((context: object | undefined) => {
    asked.push(context);
    return { context };
  });
  const [ada, bob] = [{ user: 'ada' }, { user: 'bob' }];
  const first = memoryOf(ada);
  expect(memoryOf(ada)).toBe(first);
  expect(memoryOf(bob)).not.toBe(first);
  expect(asked).toEqual([ada, bob]);
  // Nothing to know a run by: each step asks.
  memoryOf(undefined);
  memoryOf(undefined);
  expect(asked).toHaveLength(4);
});

test('one memory for all is itself', () => {
  const memory = { name: 'memory' };
  expect(memoryFinder(memory)({})).toBe(memory);
});

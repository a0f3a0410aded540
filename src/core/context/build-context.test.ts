import { expect, test } from 'vitest';
import { buildContext } from './build-context.ts';

const INPUT = {
  hits: [
    {
      entry: {
        id: '1',
        namespace: 'notes',
        content: 'x',
        status: 'unconfirmed',
        createdAt: new Date('2026-01-19T12:00:00Z'),
        confirmedAt: null,
      },
    },
  ],
  rules: [],
  counter: { name: 'characters', count: (text: string) => text.length },
} as const;

test('without a conversation there is the block alone', () => {
  const built = buildContext(INPUT);
  expect(built).toMatchObject({ messages: null, included: ['1'], tokenCount: built.text.length });
});

test('with one, the block is at the end of its last user message', () => {
  const messages = [{ role: 'user', content: 'Hello' }];
  const built = buildContext({ ...INPUT, messages });
  expect(built.messages).toEqual([{ role: 'user', content: `Hello\n\n${built.text}` }]);
});

test('without room for an entry the conversation stays as it is', () => {
  const messages = [{ role: 'user', content: 'Hello' }];
  expect(buildContext({ ...INPUT, messages, tokenBudget: 0 }).messages).toEqual(messages);
});

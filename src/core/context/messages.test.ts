import { describe, expect, test } from 'vitest';
import { refusal } from '../../../test/helpers/refusal.ts';
import { PalimpsestError } from '../errors.ts';
import { lastUserMessageIndex, placeBlock, queryFromMessages } from './messages.ts';

const BLOCK = '--- MEMORY ENTRY (…) ---\ncontent\n\nnote';

/** Freezes to the bottom: whoever writes to it throws. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) frozen(inner);
    Object.freeze(value);
  }
  return value;
}

const IMAGE_URL = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
const TOOL_RESULT = { type: 'tool_result', tool_use_id: 't1', content: 'sunny' };

/** Each: the conversation, which message gets the block, and what it holds then. */
const CONVERSATIONS: [
  name: string,
  messages: readonly Record<string, unknown>[],
  at: number,
  changed: object,
][] = [
  [
    'OpenAI, text',
    [
      { role: 'system', content: 'You are kind.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'Where do I live?', name: 'ann' },
    ],
    3,
    { role: 'user', content: `Where do I live?\n\n${BLOCK}`, name: 'ann' },
  ],
  [
    'OpenAI, parts with an image behind the text',
    [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, IMAGE_URL] }],
    0,
    {
      role: 'user',
      content: [{ type: 'text', text: 'What is this?' }, IMAGE_URL, { type: 'text', text: BLOCK }],
    },
  ],
  [
    'OpenAI, sound only',
    [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }] }],
    0,
    {
      role: 'user',
      content: [
        { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        { type: 'text', text: BLOCK },
      ],
    },
  ],
  [
    'OpenAI, in the middle of a tool call',
    [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [{ id: 't1' }] },
      { role: 'tool', content: 'sunny', tool_call_id: 't1' },
    ],
    0,
    { role: 'user', content: `Weather?\n\n${BLOCK}` },
  ],
  [
    'OpenAI responses, whose items need no role',
    [
      { role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
      { type: 'function_call', call_id: 't1', name: 'weather', arguments: '{}' },
      { type: 'function_call_output', call_id: 't1', output: 'sunny' },
    ],
    0,
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Weather?' },
        { type: 'input_text', text: BLOCK },
      ],
    },
  ],
  [
    'Anthropic, tool results stay first',
    [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'weather', input: {} }] },
      { role: 'user', content: [TOOL_RESULT, { type: 'text', text: 'And tomorrow?' }] },
    ],
    2,
    {
      role: 'user',
      content: [TOOL_RESULT, { type: 'text', text: 'And tomorrow?' }, { type: 'text', text: BLOCK }],
    },
  ],
  [
    'Anthropic, tool results alone are not the user',
    [
      { role: 'user', content: [{ type: 'text', text: 'Weather?', cache_control: { type: 'ephemeral' } }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'weather', input: {} }] },
      { role: 'user', content: [TOOL_RESULT] },
    ],
    0,
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Weather?', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: BLOCK },
      ],
    },
  ],
  [
    'AI SDK model message',
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Read this' },
          { type: 'file', data: 'AA==', mediaType: 'application/pdf' },
        ],
        providerOptions: { x: {} },
      },
    ],
    0,
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Read this' },
        { type: 'file', data: 'AA==', mediaType: 'application/pdf' },
        { type: 'text', text: BLOCK },
      ],
      providerOptions: { x: {} },
    },
  ],
  [
    'AI SDK UI message',
    [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }], metadata: { a: 1 } }],
    0,
    {
      id: 'm1',
      role: 'user',
      parts: [
        { type: 'text', text: 'Hello' },
        { type: 'text', text: BLOCK },
      ],
      metadata: { a: 1 },
    },
  ],
  ['an empty text', [{ role: 'user', content: '' }], 0, { role: 'user', content: BLOCK }],
  [
    'an empty list of parts',
    [{ role: 'user', content: [] }],
    0,
    { role: 'user', content: [{ type: 'text', text: BLOCK }] },
  ],
];

describe('placeBlock', () => {
  test.each(CONVERSATIONS)('%s', (_name, messages, at, changed) => {
    frozen(messages);
    const placed = placeBlock(messages, BLOCK);
    expect(placed[at]).toEqual(changed);
    // The very same objects everywhere else: the prefix that is cached, and what comes after.
    expect(placed.map((message, index) => message === messages[index])).toEqual(
      messages.map((_, index) => index !== at),
    );
  });

  test('parts that were there are the very same objects', () => {
    const content = frozen([TOOL_RESULT, IMAGE_URL, { type: 'text', text: 'x' }]);
    const [placed] = placeBlock([{ role: 'user', content }], BLOCK);
    expect(content.every((part, index) => placed?.content[index] === part)).toBe(true);
  });

  test('an empty block changes nothing', () => {
    const messages = frozen([{ role: 'user', content: 'Hello' }]);
    const placed = placeBlock(messages, '');
    expect(placed).toEqual(messages);
    expect(placed[0]).toBe(messages[0]);
  });

  test('of a message with content and parts, the parts are read', () => {
    const [placed] = placeBlock(
      [{ role: 'user', content: 'a', parts: [{ type: 'text', text: 'a' }] }],
      BLOCK,
    );
    expect(placed).toEqual({
      role: 'user',
      content: 'a',
      parts: [
        { type: 'text', text: 'a' },
        { type: 'text', text: BLOCK },
      ],
    });
  });
});

test('the last user message is found behind the steps of an agent that answers it', () => {
  const messages = [
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Hi.' },
    { role: 'user', content: 'And now?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: '1' }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1' }] },
  ];
  expect(lastUserMessageIndex(messages)).toBe(2);
  expect(refusal(() => lastUserMessageIndex([{ role: 'system', content: 'x' }])).details[0]?.path).toBe(
    'messages',
  );
});

describe('queryFromMessages', () => {
  test.each([
    [
      'text',
      [
        { role: 'user', content: 'first' },
        { role: 'user', content: 'last' },
      ],
      'last',
    ],
    [
      'parts',
      [
        {
          role: 'user',
          content: [TOOL_RESULT, { type: 'text', text: 'a' }, IMAGE_URL, { type: 'text', text: 'b' }],
        },
      ],
      'a\nb',
    ],
    ['a UI message', [{ role: 'user', parts: [{ type: 'text', text: 'a' }] }], 'a'],
    ['OpenAI responses', [{ role: 'user', content: [{ type: 'input_text', text: 'a' }] }], 'a'],
    [
      'an agent at work',
      [
        { role: 'user', content: 'Weather?' },
        { role: 'assistant', content: [] },
        { role: 'user', content: [TOOL_RESULT] },
      ],
      'Weather?',
    ],
    ['what cannot be stored', [{ role: 'user', content: 'a\0b\ud800c' }], 'ab\ufffdc'],
  ])('reads %s', (_name, messages, query) => {
    expect(queryFromMessages(messages)).toBe(query);
  });

  test('cuts a long text after 65,536 bytes, at a character', () => {
    // 'x' + 2 bytes each: 1 + 2 × 32,767 = 65,535; one more would be 65,537.
    const query = queryFromMessages([{ role: 'user', content: `x${'é'.repeat(40_000)}` }]);
    expect(query).toBe(`x${'é'.repeat(32_767)}`);
    expect(queryFromMessages([{ role: 'user', content: 'x'.repeat(65_536) }])).toHaveLength(65_536);
  });

  test.each([
    ['an image', [{ role: 'user', content: [IMAGE_URL] }]],
    ['white space', [{ role: 'user', content: ' \n\u200b' }]],
    ['a part without text', [{ role: 'user', content: [{ type: 'text' }] }]],
  ])('refuses %s', (_name, messages) => {
    expect(() => queryFromMessages(messages)).toThrow('the last user message has no text to search for');
  });
});

describe('what is no conversation', () => {
  const call = (messages: unknown) => () => placeBlock(messages as readonly object[], BLOCK);

  test.each([
    ['no message', [], 'there is no user message', 'messages'],
    ['no user', [{ role: 'system', content: 'x' }], 'there is no user message', 'messages'],
    [
      'tool results alone',
      [{ role: 'user', content: [TOOL_RESULT] }],
      'there is no user message',
      'messages',
    ],
    ['no list', { role: 'user' }, 'messages: it is not a list. Got an object', 'messages'],
    ['a text in the list', ['Hello'], 'messages[0]: it is not a message. Got "Hello"', 'messages[0]'],
    ['null in the list', [null], 'messages[0]: it is not a message. Got null', 'messages[0]'],
    [
      'a user without content',
      [{ role: 'user' }],
      'messages[0].content: it is neither a text nor a list',
      'messages[0].content',
    ],
    [
      'a number as content',
      [{ role: 'user', content: 1 }],
      'messages[0].content: it is neither',
      'messages[0].content',
    ],
    [
      'a text as part',
      [{ role: 'user', content: ['a'] }],
      'messages[0].content[0]: it is not a part',
      'messages[0].content[0]',
    ],
    [
      'a part without type',
      [{ role: 'user', parts: [{}] }],
      'messages[0].parts[0]: it is not a part',
      'messages[0].parts[0]',
    ],
  ])('%s is refused', (_name, messages, message, path) => {
    expect(call(messages)).toThrow(PalimpsestError);
    expect(call(messages)).toThrow(message);
    expect(call(messages)).toThrow(
      expect.objectContaining({ code: 'invalid_input', details: [expect.objectContaining({ path })] }),
    );
  });

  test('is refused for an empty block as well, so that a fault does not show by chance', () => {
    expect(() => placeBlock([], '')).toThrow('there is no user message');
  });
});

import { MockLanguageModelV4 } from 'ai/test';

/** Stands in for a model: it notes what it is asked to remember, and answers from what its prompt holds. */
export function fakeModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const asked = JSON.stringify(prompt.findLast(({ role }) => role === 'user')?.content);
      if (asked.includes('Please remember') && prompt.at(-1)?.role !== 'tool') {
        const input = JSON.stringify({ content: 'The user prefers tea over coffee.', type: 'preference' });
        return {
          content: [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'memory_write', input }],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage,
          warnings: [],
        };
      }
      const [, memory] = /MEMORY ENTRY \([^)]*\) ---\\n(.*?)\\n/.exec(asked) ?? [];
      const text = memory === undefined ? 'Noted.' : `As I remember it: ${memory}`;
      return {
        content: [{ type: 'text', text }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

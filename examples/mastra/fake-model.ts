import type { MastraModelConfig } from '@mastra/core/llm';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';

/** Stands in for a model: it notes what it is asked to remember, and answers from what its prompt holds. */
export function fakeModel(): MastraModelConfig {
  const model = new MastraLanguageModelV2Mock({
    doGenerate: async ({ prompt }) => {
      const asked = JSON.stringify(prompt.findLast(({ role }) => role === 'user')?.content);
      if (asked.includes('Please remember') && prompt.at(-1)?.role !== 'tool') {
        const input = JSON.stringify({ content: 'The user prefers tea over coffee.', type: 'preference' });
        return {
          content: [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'memory_write', input }],
          finishReason: 'tool-calls',
          usage,
          warnings: [],
        };
      }
      const [, memory] = /MEMORY ENTRY \([^)]*\) ---\\n(.*?)\\n/.exec(asked) ?? [];
      const text = memory === undefined ? 'Noted.' : `As I remember it: ${memory}`;
      return { content: [{ type: 'text', text }], finishReason: 'stop', usage, warnings: [] };
    },
  });
  // Mastra's own mock is one of its models; under strict settings its types miss each other by an `undefined`.
  return model as unknown as MastraModelConfig;
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

import { type Model, Usage } from '@openai/agents-core';
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from '@openai/agents-core/testing';

/** Stands in for a model: it notes what it is asked to remember, and answers from what its prompt holds. */
export function fakeModel(): Model {
  const answer = modelResponder(({ request: { input } }) => {
    const items = typeof input === 'string' ? [] : input;
    const asked = JSON.stringify(items.findLast((item) => 'role' in item && item.role === 'user'));
    const hasCalled = items.at(-1)?.type === 'function_call_result';
    if (asked.includes('Please remember')) {
      const draft = {
        namespace: 'vector.user.ada.preferences',
        content: 'The user prefers tea over coffee.',
        type: 'preference',
      };
      const call = functionCall('memory_write', draft, { callId: 'call-1' });
      return { usage: new Usage(), output: [hasCalled ? assistantMessage('Noted.') : call] };
    }
    const [, memory] = /MEMORY ENTRY \([^)]*\) ---\\n(.*?)\\n/.exec(asked) ?? [];
    const text = memory === undefined ? 'I do not know.' : `As I remember it: ${memory}`;
    return { usage: new Usage(), output: [assistantMessage(text)] };
  });
  return new ScriptedModel(Array.from({ length: 100 }, () => answer));
}

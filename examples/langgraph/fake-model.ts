import { RunnableLambda } from '@langchain/core/runnables';

/** Stands in for a chat model: it answers from what its prompt says is known. */
export function fakeModel() {
  return RunnableLambda.from(async (prompt: string) => {
    const [, known = ''] = prompt.split('What is known:\n');
    return { content: known === '' ? 'I do not know.' : `As far as I know: ${known}` };
  });
}

import assert from 'node:assert/strict';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { Palimpsest } from 'palimpsest';
import { PalimpsestStore } from 'palimpsest/langgraph';
import { fakeModel } from './fake-model.ts';

// Gone with this process; { dataDir: './memories' } keeps it, createClient({ baseUrl }) asks a server.
const memory = await Palimpsest.open();
// Whose memories these are says the root: what lies below it is Ada's.
const store = new PalimpsestStore(memory.as({ userId: 'ada' }), {
  root: 'vector.user.ada.langgraph',
  index: { fields: ['text'] },
});
const model = fakeModel(); // new ChatOpenAI({ model: 'gpt-5' }), say

const graph = new StateGraph(Annotation.Root({ question: Annotation<string>, answer: Annotation<string> }))
  .addNode('respond', async ({ question }, { store: memories }) => {
    const known = (await memories?.search(['facts'], { query: question, limit: 1 })) ?? [];
    const facts = known.map(({ value }) => value.text).join('\n');
    const { content } = await model.invoke(`${question}\n\nWhat is known:\n${facts}`);
    return { answer: String(content) };
  })
  .addEdge(START, 'respond')
  .compile({ store });

await store.put(['facts'], 'drink', { text: 'Ada prefers tea over coffee.', source: 'chat' });
await store.put(['facts'], 'day', { text: 'Ada deploys on Fridays.', source: 'wiki' });

const { answer } = await graph.invoke({ question: 'Does Ada prefer tea or coffee?' });
console.log(`Does Ada prefer tea or coffee?\n${answer}`);
assert.match(answer, /Ada prefers tea over coffee/);
assert.doesNotMatch(answer, /Fridays/);

// The store is LangGraph's: filters, namespaces, replacing and deleting work as they do in its own.
await store.put(['facts'], 'drink', { text: 'Ada prefers coffee over tea.', source: 'chat' });
const chat = await store.search(['facts'], { filter: { source: 'chat' } });
console.log('From the chat:', chat.map(({ key, value }) => `${key}: ${value.text}`).join(', '));
assert.deepEqual(
  chat.map(({ value }) => value.text),
  ['Ada prefers coffee over tea.'],
);
await store.delete(['facts'], 'day');
assert.deepEqual(await store.listNamespaces({ prefix: ['facts'] }), [['facts']]);
assert.equal(await store.get(['facts'], 'day'), null);
await memory.close();

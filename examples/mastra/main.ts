import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import { Palimpsest } from 'palimpsest';
import { MemoryProcessor, memoryTools } from 'palimpsest/mastra';
import { fakeModel } from './fake-model.ts';

// Gone with this process; { dataDir: './memories' } keeps it, createClient({ baseUrl }) asks a server.
const memory = await Palimpsest.open();
// One user here; where there are many, a function of the request context finds the handle of the one who asks.
const ada = memory.as({ userId: 'ada' });

const remembering = new MemoryProcessor(ada, { storeRuns: { namespace: 'vector.user.ada.runs' } });
const agent = new Agent({
  id: 'assistant',
  name: 'Assistant',
  instructions: 'Be brief.',
  model: fakeModel(), // 'openai/gpt-5', say
  tools: memoryTools(ada, { namespace: 'vector.user.ada.preferences' }),
  inputProcessors: [remembering],
  outputProcessors: [remembering],
});

// The agent decides what to remember…
const noted = await agent.generate('Please remember that I prefer tea over coffee.');
console.log(`Ada: Please remember that I prefer tea over coffee.\nAgent: ${noted.text}`);

// …and in any later conversation finds it at the end of the question.
const answer = await agent.generate('Do I prefer tea or coffee?');
console.log(`Ada: Do I prefer tea or coffee?\nAgent: ${answer.text}`);
assert.match(answer.text, /The user prefers tea over coffee/);

const { entries } = await ada.list();
console.log('Stored:');
for (const { namespace, content } of entries) console.log(`  ${namespace}: ${content}`);
assert.deepEqual(entries.map(({ namespace }) => namespace).sort(), [
  'vector.user.ada.preferences',
  'vector.user.ada.runs',
  'vector.user.ada.runs',
]);
await memory.close();

import assert from 'node:assert/strict';
import { generateText, isStepCount, wrapLanguageModel } from 'ai';
import { Palimpsest } from 'palimpsest';
import { memoryTools, palimpsestMiddleware } from 'palimpsest/ai-sdk';
import { fakeModel } from './fake-model.ts';

// Gone with this process; { dataDir: './memories' } keeps it, createClient({ baseUrl }) asks a server.
const memory = await Palimpsest.open();
// Whose memories these are: a server makes a handle for each request's user.
const ada = memory.as({ userId: 'ada' });

const model = wrapLanguageModel({
  model: fakeModel(), // openai('gpt-5'), say
  middleware: palimpsestMiddleware(ada, { storeRuns: { namespace: 'vector.user.ada.runs' } }),
});

// The agent decides what to remember…
const noted = await generateText({
  model,
  prompt: 'Please remember that I prefer tea over coffee.',
  tools: memoryTools(ada, { namespace: 'vector.user.ada.preferences' }),
  stopWhen: isStepCount(5),
});
console.log(`Ada: Please remember that I prefer tea over coffee.\nModel: ${noted.text}`);

// …and in any later conversation finds it at the end of the question.
const answer = await generateText({ model, prompt: 'Do I prefer tea or coffee?' });
console.log(`Ada: Do I prefer tea or coffee?\nModel: ${answer.text}`);
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

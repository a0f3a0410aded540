import assert from 'node:assert/strict';
import { Agent, MemorySession, Runner } from '@openai/agents-core';
import { Palimpsest } from 'palimpsest';
import { memoryInputFilter, memoryTools } from 'palimpsest/openai-agents';
import { fakeModel } from './fake-model.ts';

// Gone with this process; { dataDir: './memories' } keeps it, createClient({ baseUrl }) asks a server.
const memory = await Palimpsest.open();

/** Whose memories these are says the run's context, and no model. */
interface Asker {
  readonly userId: string;
}
const memoryOf = (asker: Asker | undefined) => memory.as({ userId: asker?.userId ?? 'nobody' });

const model = fakeModel(); // 'gpt-5', say
const agent = new Agent<Asker>({ name: 'Assistant', model, tools: memoryTools(memoryOf) });
const runner = new Runner({ callModelInputFilter: memoryInputFilter(memoryOf), tracingDisabled: true });

// The agent decides what to remember…
const ada: Asker = { userId: 'ada' };
const noted = await runner.run(agent, 'Please remember that I prefer tea over coffee.', { context: ada });
console.log(`Ada: Please remember that I prefer tea over coffee.\nAgent: ${noted.finalOutput}`);

// …and in any later session finds it at the end of the question.
const session = new MemorySession();
const answer = await runner.run(agent, 'Do I prefer tea or coffee?', { context: ada, session });
console.log(`Ada: Do I prefer tea or coffee?\nAgent: ${answer.finalOutput}`);
assert.match(answer.finalOutput ?? '', /The user prefers tea over coffee/);

// Somebody else's agent remembers somebody else's.
const bob = await runner.run(agent, 'Do I prefer tea or coffee?', { context: { userId: 'bob' } });
console.log(`Bob: Do I prefer tea or coffee?\nAgent: ${bob.finalOutput}`);
assert.equal(bob.finalOutput, 'I do not know.');

const { entries } = await memory.as(ada).list();
assert.deepEqual(
  entries.map(({ content }) => content),
  ['The user prefers tea over coffee.'],
);
await memory.close();

import assert from 'node:assert/strict';
import { Palimpsest } from 'palimpsest';

// Gone with this process; { dataDir: './memories' } keeps it.
const memory = await Palimpsest.open();
const ada = memory.as({ userId: 'ada' });

const namespace = 'vector.user.ada.preferences';
const tea = await ada.remember({ namespace, content: 'Ada prefers tea over coffee.', importance: 0.8 });
await ada.remember({ namespace: 'vector.user.ada.work', content: 'Ada deploys on Fridays.' });

const { hits, traceId, exact } = await ada.recall({ query: 'tea or coffee for Ada?' });
const [hit] = hits;
assert(hit?.breakdown && hit.score !== null);
console.log(`Found: ${hit.entry.content} (similarity ${hit.similarity?.toFixed(2)}, exact: ${exact})`);
assert.equal(hit.entry.id, tea.entry.id);
const sum = hit.breakdown.factors.reduce((total, { contribution }) => total + contribution, 0);
assert(Math.abs(sum - hit.score) < 1e-9, 'every number adds up');

const { messages } = await ada.context({ messages: [{ role: 'user', content: 'tea or coffee for Ada?' }] });
console.log(`The prompt:\n${messages?.[0]?.content}`);
assert.match(String(messages?.[0]?.content), /^tea or coffee for Ada\?\n\n--- MEMORY ENTRY/);

await ada.feedback({ memoryId: tea.entry.id, traceId, signal: 'useful' });
await ada.supersede(tea.entry.id, { namespace, content: 'Ada prefers coffee over tea since May.' });
const { entries } = await ada.history(tea.entry.id);
console.log(`A page written over can still be read: ${entries.map(({ content }) => content).join(' → ')}`);
assert.deepEqual(
  entries.map(({ validatedAccessCount }) => validatedAccessCount),
  [1, 0],
);
assert.deepEqual((await memory.as({ userId: 'bob' }).list()).entries, [], 'nobody else sees it');
await memory.close();

import type { PromptMemory } from '../../src/adapters/memory-backend.ts';
import { PalimpsestError } from '../../src/core/errors.ts';
import type { TestBackend } from './test-backends.ts';

/** What the tests of the frameworks' adapters have in common: whose memories there are, and a memory that is down. */

/** Long enough to be stored with its answer. */
export const QUESTION =
  'What does Ada drink in the morning, tea or coffee, and how does she take it?  Please answer in full.';

/** The search that finds Ada's fact and nothing else. */
export const ADAS_FACTS = { namespaces: ['vector.user.ada.facts'], minScore: 0 };

const databaseIsAway = () =>
  Promise.reject(new PalimpsestError('store_unavailable', 'The database is away.'));

export const BROKEN_MEMORY: PromptMemory = { context: databaseIsAway, observeRun: databaseIsAway };

/** A backend with a fact of Ada's and one of Bob's. */
export async function openWithFacts(open: () => Promise<TestBackend>): Promise<TestBackend> {
  const backend = await open();
  const { operator } = backend;
  await operator.remember({
    namespace: 'vector.user.ada.facts',
    content: 'Ada drinks tea in the morning, without milk.',
  });
  await operator.remember({ namespace: 'vector.user.bob.facts', content: 'Bob drinks beer.' });
  return backend;
}

/** Where each entry of a namespace comes from, and its content, in order. */
export async function storedIn({ operator }: TestBackend, namespace: string) {
  const { entries } = await operator.list({ namespaces: [namespace] });
  return entries.map(({ content, source }) => [source?.kind, content]).sort();
}

import { expect, test } from 'vitest';
import { isMemoryBlock } from './is-memory-block.ts';

const HEADER = '--- MEMORY ENTRY (Stored on 1/19/2026, Namespace: vector.user.ada) ---';
const NOTE =
  'An entry marked “confirmed by the user” was verified by them; the others are records nobody has checked since they were written.';

test('a block has a header at the start of a line and ends with the note', () => {
  expect(isMemoryBlock(`${HEADER}\nTea.\n\n${NOTE}`)).toBe(true);
  expect(isMemoryBlock(`USER PREFERENCE (MEMORY): …\n${HEADER}\nTea.\n\n${NOTE}`)).toBe(true);
  expect(isMemoryBlock('')).toBe(false);
  expect(isMemoryBlock(`Tea.\n\n${NOTE}`)).toBe(false);
  expect(isMemoryBlock(`What is “${HEADER}”?\n\n${NOTE}`)).toBe(false);
  expect(isMemoryBlock(`${HEADER}\nTea.\n\n${NOTE}\nAnd what do you think?`)).toBe(false);
});

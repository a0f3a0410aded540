import { expect } from 'vitest';
import { PalimpsestError } from '../../src/core/errors.ts';

/** The `PalimpsestError` that `work` throws. The test fails when there is none, or an error of another kind. */
export function refusal(work: () => unknown): PalimpsestError {
  try {
    work();
  } catch (error) {
    if (PalimpsestError.isInstance(error)) return error;
    throw error;
  }
  return expect.unreachable('nothing was refused');
}

/** The same for what is refused later. */
export async function rejection(work: Promise<unknown>): Promise<PalimpsestError> {
  try {
    await work;
  } catch (error) {
    if (PalimpsestError.isInstance(error)) return error;
    throw error;
  }
  return expect.unreachable('nothing was refused');
}

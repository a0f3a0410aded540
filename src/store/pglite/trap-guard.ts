import type { PGlite } from '@electric-sql/pglite';

/** The functions of the compiled Postgres that PGlite's main loop calls. */
interface MainLoopFunctions {
  _PostgresMainLoopOnce(): void;
  stackRestore(stackPointer: number): void;
}

/** Exit status by which the compiled Postgres reports an ordinary error to its main loop. */
const ORDINARY_ERROR = 100;

/**
 * Makes a trap end the call it happened in. PGlite's main loop catches everything, and goes on until all input
 * is read: after a trap (a PANIC of Postgres, a stack that overflowed) nothing reads it any more, so the loop
 * never ends, and with it stops every timer and request of this process.
 *
 * The loop restores the stack outside of its own try block after each exception. That is where a trap can
 * leave it.
 */
export function guardAgainstTraps(pglite: PGlite): void {
  const functions: MainLoopFunctions = pglite.Module;
  const runOnce = functions._PostgresMainLoopOnce;
  const restore = functions.stackRestore;
  let trap: unknown;
  functions._PostgresMainLoopOnce = () => {
    if (trap !== undefined) throw trap;
    try {
      runOnce();
    } catch (error) {
      if (!isOrdinaryError(error)) trap = error;
      throw error;
    }
  };
  functions.stackRestore = (stackPointer) => {
    if (trap !== undefined) throw trap;
    restore(stackPointer);
  };
}

function isOrdinaryError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status === ORDINARY_ERROR;
}

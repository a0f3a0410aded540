import type { JsonObject } from '../core/types.ts';

/** Where the service says what no caller hears. Never gets contents, queries or secrets. */
export interface ServiceLog {
  warn(message: string, detail: JsonObject, error?: unknown): void;
}

/** For those who hear nothing. */
export const SILENT_LOG: ServiceLog = { warn() {} };

/** Lets one in a stretch of time through, and says how many were held back since. */
export function atMostEvery(
  milliseconds: number,
  now: () => number,
  say: (heldBack: number) => void,
): (count?: number) => void {
  let last = Number.NEGATIVE_INFINITY;
  let heldBack = 0;
  return (count = 1) => {
    heldBack += count;
    const time = now();
    if (time - last < milliseconds) return;
    last = time;
    say(heldBack);
    heldBack = 0;
  };
}

import type { Telemetry } from '../core/telemetry.ts';

/** Milliseconds by step, for a trace. */
export interface Stopwatch {
  /** Runs one step and adds what it took to the step's time. */
  time<T>(step: string, work: () => Promise<T>): Promise<T>;
  /** The steps so far, with `total` since the start; rounded to a thousandth of a millisecond. */
  timings(): Readonly<Record<string, number>>;
}

export function startStopwatch(telemetry: Telemetry): Stopwatch {
  const start = performance.now();
  const steps = new Map<string, number>();
  return {
    async time(step, work) {
      const began = performance.now();
      try {
        return await telemetry.step({ kind: 'recall_stage', name: step }, work);
      } finally {
        steps.set(step, (steps.get(step) ?? 0) + performance.now() - began);
      }
    },
    timings() {
      const all = [...steps, ['total', performance.now() - start] as const];
      return Object.fromEntries(all.map(([step, took]) => [step, Math.round(took * 1000) / 1000]));
    },
  };
}

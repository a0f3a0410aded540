import type { JobProgress } from '../core/embedding-store.ts';
import type { TextOutput } from './cli-parts.ts';
import { printable } from './format/printable.ts';
import { terminalBar } from './terminal-bar.ts';

/** Shows how far a job is. */
export interface JobBar {
  update(progress: JobProgress): void;
  stop(): void;
}

const SILENT: JobBar = { update: () => undefined, stop: () => undefined };

/** A progress bar on a terminal, nothing anywhere else. */
export function jobBar(output: TextOutput): JobBar {
  const bar = terminalBar(output, '{bar} {percentage} % · {value} of {total} entries · {state}');
  if (bar === null) return SILENT;
  bar.start(0, 0, { state: '' });
  return {
    update(progress) {
      bar.setTotal(progress.entries);
      bar.update(progress.settled, { state: stateOf(progress) });
    },
    stop: () => bar.stop(),
  };
}

/** Longest message of a failing service in the bar's line. */
const MAX_MESSAGE_LENGTH = 60;

/** How fast it goes and how long it will take, or why it does not. */
export function stateOf({ perSecond, etaSeconds, outage }: JobProgress): string {
  if (outage !== null) {
    return `the model does not answer (${printable(outage.message).slice(0, MAX_MESSAGE_LENGTH)}); asked again by itself`;
  }
  if (perSecond === null || etaSeconds === null) return 'starting';
  return `${perSecond.toFixed(1)} a second · ${duration(etaSeconds)} left`;
}

export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.ceil(whole / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

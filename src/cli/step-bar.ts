import type { OnBackupStep, TextOutput } from './cli-parts.ts';
import { terminalBar } from './terminal-bar.ts';

/** Shows how far work in several steps has come, a bar for each step. */
export interface StepBar {
  readonly update: OnBackupStep;
  stop(): void;
}

const SILENT: StepBar = { update: () => undefined, stop: () => undefined };

/** A progress bar on a terminal, nothing anywhere else. */
export function stepBar(output: TextOutput): StepBar {
  const bar = terminalBar(output, '{step} {bar} {percentage} % · {megabytes} MB · {eta_formatted} left');
  if (bar === null) return SILENT;
  let current = '';
  return {
    update(step, { bytes, total }) {
      const megabytes = (bytes / 1e6).toFixed(1);
      if (step !== current) bar.start(total, 0, { step, megabytes });
      current = step;
      // An archive is a little larger than the files in it.
      bar.update(Math.min(bytes, total), { step, megabytes });
    },
    stop: () => bar.stop(),
  };
}

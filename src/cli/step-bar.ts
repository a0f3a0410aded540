import { Presets, SingleBar } from 'cli-progress';
import type { OnBackupStep, TextOutput } from './cli-parts.ts';

/** Shows how far work in several steps has come, a bar for each step. */
export interface StepBar {
  readonly update: OnBackupStep;
  stop(): void;
}

const SILENT: StepBar = { update: () => undefined, stop: () => undefined };

/** A progress bar on a terminal, nothing anywhere else: a log is not to fill with redrawn lines. */
export function stepBar(output: TextOutput): StepBar {
  if (!output.isTerminal) return SILENT;
  const bar = new SingleBar(
    {
      format: '{step} {bar} {percentage} % · {megabytes} MB · {eta_formatted} left',
      stream: output.stream,
      hideCursor: true,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  );
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

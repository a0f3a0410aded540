import { Presets, SingleBar } from 'cli-progress';
import type { IndexProgress } from '../core/vector-index.ts';
import type { TextOutput } from './cli-parts.ts';
import { printable } from './format/printable.ts';

/** Shows how far the building of an index is. */
export interface IndexBar {
  update(progress: IndexProgress): void;
  stop(): void;
}

const SILENT: IndexBar = { update: () => undefined, stop: () => undefined };

/** A progress bar on a terminal, nothing anywhere else. It begins anew with each phase of PostgreSQL's. */
export function indexBar(output: TextOutput): IndexBar {
  if (!output.isTerminal) return SILENT;
  const bar = new SingleBar(
    {
      format: '{bar} {percentage} % · {phase}',
      stream: output.stream,
      hideCursor: true,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  );
  bar.start(1, 0, { phase: '' });
  return {
    update: ({ phase, share }) => bar.update(share ?? 0, { phase: printable(phase) }),
    stop: () => bar.stop(),
  };
}

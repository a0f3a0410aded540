import type { IndexProgress } from '../core/vector-index.ts';
import type { TextOutput } from './cli-parts.ts';
import { printable } from './format/printable.ts';
import { terminalBar } from './terminal-bar.ts';

/** Shows how far the building of an index is. */
export interface IndexBar {
  update(progress: IndexProgress): void;
  stop(): void;
}

const SILENT: IndexBar = { update: () => undefined, stop: () => undefined };

/** A progress bar on a terminal, nothing anywhere else. It begins anew with each phase of PostgreSQL's. */
export function indexBar(output: TextOutput): IndexBar {
  const bar = terminalBar(output, '{bar} {percentage} % · {phase}');
  if (bar === null) return SILENT;
  bar.start(1, 0, { phase: '' });
  return {
    update: ({ phase, share }) => bar.update(share ?? 0, { phase: printable(phase) }),
    stop: () => bar.stop(),
  };
}

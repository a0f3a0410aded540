import type { TextOutput } from './cli-parts.ts';
import { terminalBar } from './terminal-bar.ts';

/** Shows how far a stream has come. */
export interface ByteProgress {
  update(progress: { readonly bytes: number; readonly entries: number }): void;
  stop(): void;
}

const SILENT: ByteProgress = { update: () => undefined, stop: () => undefined };

/**
 * A progress bar on a terminal, nothing anywhere else.
 *
 * @param total - Bytes in all; null where nobody knows, as for standard input.
 */
export function byteProgress(output: TextOutput, total: number | null): ByteProgress {
  const format =
    total === null
      ? '{entries} entries, {megabytes} MB'
      : '{bar} {percentage} % · {entries} entries · {eta_formatted} left';
  const bar = terminalBar(output, format);
  if (bar === null) return SILENT;
  bar.start(total ?? 0, 0, { entries: 0, megabytes: '0.0' });
  return {
    update({ bytes, entries }) {
      // Without a total the bar would be complete at once.
      if (total === null) bar.setTotal(bytes + 1);
      bar.update(bytes, { entries, megabytes: (bytes / 1e6).toFixed(1) });
    },
    stop: () => bar.stop(),
  };
}

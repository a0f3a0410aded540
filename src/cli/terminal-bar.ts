import { Presets, SingleBar } from 'cli-progress';
import type { TextOutput } from './cli-parts.ts';

/**
 * A progress bar on a terminal, not yet started; null anywhere else: a log is not to fill with redrawn lines.
 *
 * @param format - As cli-progress has it, such as `{bar} {percentage} % · {state}`.
 */
export function terminalBar(output: TextOutput, format: string): SingleBar | null {
  if (!output.isTerminal) return null;
  return new SingleBar(
    { format, stream: output.stream, hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
}

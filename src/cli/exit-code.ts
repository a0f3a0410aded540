import { CommanderError } from 'commander';
import { type ErrorCode, PalimpsestError } from '../core/errors.ts';
import { UsageError } from './usage-error.ts';

/** What a script may rely on. `--help` lists them. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'done' },
  error: { code: 1, meaning: 'failed, or doctor found something wrong' },
  usage: { code: 2, meaning: 'the command line, the input or the configuration makes no sense' },
  store: {
    code: 3,
    meaning: 'the store is in use by another process, unreachable, or newer than this program',
  },
  notFound: { code: 4, meaning: 'no such entry or rule' },
} as const;

const BY_ERROR_CODE: Partial<Record<ErrorCode, { readonly code: number }>> = {
  invalid_input: EXIT_CODES.usage,
  invalid_config: EXIT_CODES.usage,
  store_locked: EXIT_CODES.store,
  store_unavailable: EXIT_CODES.store,
  store_newer: EXIT_CODES.store,
  not_found: EXIT_CODES.notFound,
};

export function exitCodeOf(error: unknown): number {
  if (PalimpsestError.isInstance(error)) return (BY_ERROR_CODE[error.code] ?? EXIT_CODES.error).code;
  if (error instanceof UsageError) return EXIT_CODES.usage.code;
  // Commander ends --help and --version by an error of exit code 0.
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? EXIT_CODES.ok.code : EXIT_CODES.usage.code;
  return EXIT_CODES.error.code;
}

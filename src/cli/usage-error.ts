/** A command line that makes no sense; the exit code says so. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

import { PalimpsestError } from '../core/errors.ts';
import { camelName } from './wire-form.ts';

/**
 * Runs what speaks in the wire's names, and puts the names that code has for them into its refusals. Names
 * inside metadata are the caller's own and stay.
 */
export async function inCodeNames<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw PalimpsestError.isInstance(error) ? renamedError(error) : error;
  }
}

function renamedError(error: PalimpsestError): PalimpsestError {
  const renames = error.details.flatMap(({ path }) => {
    const inCode = path === undefined ? undefined : codePath(path);
    return path === undefined || inCode === undefined || inCode === path ? [] : [[path, inCode] as const];
  });
  if (renames.length === 0) return error;
  const names = new Map(renames);
  return new PalimpsestError(
    error.code,
    renames.reduce((message, [onWire, inCode]) => message.replace(onWire, inCode), error.message),
    {
      details: error.details.map((detail) => {
        const path = detail.path === undefined ? undefined : (names.get(detail.path) ?? detail.path);
        return { ...detail, path };
      }),
      retryAfterSeconds: error.retryAfterSeconds,
      cause: error.cause,
    },
  );
}

function codePath(path: string): string {
  const [own = '', ...ofMetadata] = path.split(/(?=\bmetadata\b)/);
  return camelName(own) + ofMetadata.join('');
}

import { readFileSync } from 'node:fs';
import { excerpt, PalimpsestError } from '../../core/errors.ts';

/**
 * Where a key is found: an environment variable's name, or a file that holds nothing else. Never the key itself,
 * so that a configuration can be shown, logged and committed.
 */
export type ApiKeySource = { readonly env: string } | { readonly file: string };

/** The variables of this process, as the config layer read them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A function that gives the key. The file is read at each call: the kernel keeps so small a file in memory, and a
 * key that is replaced there counts from the next call on, without a restart.
 *
 * @throws PalimpsestError `invalid_config`, now and from the function: no such variable or file, or nothing in it
 */
export function apiKeyReader(source: ApiKeySource, environment: Environment): () => string {
  const read = () => checkedKey('env' in source ? environment[source.env] : keyFile(source.file), source);
  read();
  return read;
}

function keyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw keyError(`The file ${path} with the key of the embedding service can not be read.`, path, error);
  }
}

function checkedKey(content: string | undefined, source: ApiKeySource): string {
  const place = 'env' in source ? source.env : source.file;
  const key = content?.trim() ?? '';
  if (key === '') throw keyError(`There is no key of the embedding service in ${excerpt(place)}.`, place);
  // Header values can hold no line break; an error of the HTTP client about it would repeat the key.
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw keyError(
    `What is in ${excerpt(place)} is no key: it has spaces, line breaks or characters beyond ASCII.`,
    place,
  );
}

function keyError(message: string, got: string, cause?: unknown): PalimpsestError {
  return new PalimpsestError('invalid_config', message, {
    details: [
      {
        path: 'embedding.apiKey',
        got,
        allowed: 'the name of an environment variable or file that holds the key',
      },
    ],
    cause,
  });
}

/** What stands in a message where a secret was. */
const HIDDEN = '[hidden]';
/** Keys of well-known services, also with their middle starred out, as some services repeat them. */
const KEY_LIKE = /\b(?:sk|pk|rk|hf|gsk|vck|api|key)[-_][\w*-]{6,}|\bBearer\s+\S+/gi;

/** A service's words as they may be shown: without the key, whole or in part. */
export function withoutKeys(text: string, key: string | undefined): string {
  const withoutKey = key === undefined ? text : text.replaceAll(key, HIDDEN);
  return withoutKey.replace(KEY_LIKE, HIDDEN);
}

import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { excerpt, PalimpsestError } from '../../core/errors.ts';
import { isRecord } from '../remote/wire-vectors.ts';

/** The folder's full path. @throws PalimpsestError `invalid_config` where it is no folder, or has nothing in it */
export function modelFolder(path: string): string {
  const folder = resolve(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw folderError(`There is no model folder ${folder}.`, folder, 'a folder with a model in it');
  }
  if (readdirSync(folder).length === 0) {
    throw folderError(`The model folder ${folder} is empty.`, folder, 'a folder with a model in it');
  }
  return folder;
}

/** The path of the first of these files that is in the folder. @throws PalimpsestError `invalid_config` for none */
export function modelFile(folder: string, names: readonly string[]): string {
  const name = names.find((candidate) => existsSync(join(folder, candidate)));
  if (name !== undefined) return join(folder, name);
  throw folderError(
    `The model folder ${folder} has no ${names.join(' or ')}.`,
    readdirSync(folder).sort().join(', '),
    [...names],
  );
}

/** A JSON object in the folder. @throws PalimpsestError `invalid_config` where it is not there, or broken */
export function modelJson(folder: string, name: string): Readonly<Record<string, unknown>> {
  const path = modelFile(folder, [name]);
  const content = optionalJson(folder, name);
  if (content !== null) return content;
  throw folderError(`The file ${path} is not a JSON object; it may have been copied in part.`, name, 'JSON');
}

/** A JSON object in the folder, or null where there is none to be read. */
export function optionalJson(folder: string, name: string): Readonly<Record<string, unknown>> | null {
  const path = join(folder, name);
  if (!existsSync(path)) return null;
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isRecord(content) ? content : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** A whole number above 0 under one of these names, the first that has one. */
export function firstCount(
  content: Readonly<Record<string, unknown>>,
  names: readonly string[],
): number | null {
  const values = names.map((name) => content[name]);
  const isCount = (value: unknown) => typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
  return Number(values.find(isCount) ?? 0) || null;
}

/** @throws PalimpsestError `invalid_config` where other dimensions are configured than the model has */
export function checkDimensions(folder: string, actual: number, configured: number | undefined): void {
  if (configured === undefined || configured === actual) return;
  throw new PalimpsestError(
    'invalid_config',
    `The model in ${folder} makes ${actual} dimensions; ${configured} are configured.`,
    { details: [{ path: 'embedding.dimensions', got: configured, allowed: actual }] },
  );
}

const HASHED_AT_ONCE = 4 * 1024 * 1024;

/** Eight hexadecimal digits that stand for the content of these files. */
export function filesHash(paths: readonly string[]): string {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(HASHED_AT_ONCE);
  for (const path of paths) {
    const file = openSync(path, 'r');
    try {
      for (let size = readSync(file, buffer); size > 0; size = readSync(file, buffer)) {
        hash.update(buffer.subarray(0, size));
      }
    } finally {
      closeSync(file);
    }
  }
  return hash.digest('hex').slice(0, 8);
}

/** A folder's name as it can stand in a model id. */
export function idWord(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64);
}

export function folderError(message: string, got: string, allowed: string | string[]): PalimpsestError {
  return new PalimpsestError('invalid_config', message, {
    details: [{ path: 'embedding.modelFolder', got: excerpt(got), allowed }],
  });
}

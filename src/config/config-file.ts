import { lstatSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { excerpt, hasCode, type PalimpsestError, reasonOf } from '../core/errors.ts';
import { nearestName } from '../core/nearest-name.ts';
import { isObject } from './form.ts';
import { invalidConfig } from './invalid-config.ts';
import { priorityWarnings } from './left-over-priorities.ts';

/** Where people keep it. Not read unless it is named: a working directory may be anybody's, such as a cloned project. */
export const USUAL_CONFIG_FILE = 'config/embedding.config.json';

/** What a configuration file says. */
export interface ConfigFile {
  /** Null where there is none. */
  readonly path: string | null;
  /** By key, such as `http.port`. Not yet read by their forms. */
  readonly values: ReadonlyMap<string, unknown>;
  /** What is ignored, and what to do about it. */
  readonly warnings: readonly string[];
}

/** The text of a file, or undefined where there is no such file. */
export type ReadText = (path: string) => string | undefined;

/** Whether something is at a path, told without opening it. */
export type IsThere = (path: string) => boolean;

/** Keys that somebody might well expect in the file, and why they are not accepted. */
export type RefusedKeys = Readonly<Record<string, string>>;

/** Removed from the product: two places for one weight added up in silence. */
const LEFT_OVER_PRIORITIES = 'ranking.priorities';

/**
 * Reads the configuration file.
 *
 * @param named the file that was named; undefined: none, and one in the usual place is warned about and not read
 * @param known every key that means something
 * @throws PalimpsestError `invalid_config` for a named file that is not there, for what is no JSON object, and for
 *   keys that mean nothing
 */
export function readConfigFile(
  named: { readonly path: string; readonly by: string } | undefined,
  known: readonly string[],
  refusedKeys: RefusedKeys,
  readText: ReadText = readTextFile,
  isThere: IsThere = hasEntry,
): ConfigFile {
  if (named === undefined) return { path: null, values: new Map(), warnings: unnamedFile(isThere) };
  const path = resolve(named.path);
  const text = readText(path);
  if (text === undefined) {
    throw invalidConfig(
      `${named.by} names ${path}, which is not there.`,
      path,
      'the path of a configuration file',
      'Make it, or leave the setting out.',
    );
  }
  const values = new Map<string, unknown>();
  const warnings: string[] = [];
  const walk = (value: Record<string, unknown>, parent: string) => {
    for (const [name, inner] of Object.entries(value)) {
      const key = `${parent}${name}`;
      if (known.includes(key)) values.set(key, inner);
      else if (key === LEFT_OVER_PRIORITIES) warnings.push(...priorityWarnings(inner));
      else if (known.some((other) => other.startsWith(`${key}.`)))
        walk(sectionOf(inner, key, path), `${key}.`);
      else throw unknownKey(key, path, known, refusedKeys);
    }
  };
  walk(sectionOf(parsedFile(text, path), null, path), '');
  return { path, values, warnings };
}

/** MCP clients start servers in the project that is open: its files must not say where memories and keys are sent. */
function unnamedFile(isThere: IsThere): string[] {
  if (!isThere(resolve(USUAL_CONFIG_FILE))) return [];
  return [
    `${USUAL_CONFIG_FILE} is in the working directory and is not used, since nobody named it. ` +
      'If it is yours, name it with --config or EMBEDDING_CONFIG_PATH.',
  ];
}

/** Never opens it: a pipe, or a link to standard input or a device, would hold up every command. */
function hasEntry(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // What can't be looked at may be there; nothing is below a file.
    return !hasCode(error, 'ENOTDIR');
  }
}

function readTextFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) {
      return undefined;
    }
    throw invalidConfig(
      `The configuration file ${path} can't be read: ${reasonOf(error)}.`,
      path,
      'a file this user may read',
    );
  }
}

/** A syntax error says where it is and never what stands there: a file may hold what is nobody's to see. */
function parsedFile(text: string, path: string): unknown {
  try {
    // Some editors begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const place = /line (\d+) column (\d+)/.exec(error.message);
    const where = place === null ? '' : `, at line ${place[1]}, column ${place[2]}`;
    throw invalidConfig(`The configuration file ${path} is not JSON${where}.`, 'no JSON', 'a JSON object');
  }
}

function sectionOf(value: unknown, key: string | null, path: string): Record<string, unknown> {
  if (isObject(value)) return value;
  const place = key === null ? `The configuration file ${path}` : key;
  throw invalidConfig(`${place} is ${excerpt(value)}; allowed: an object.`, excerpt(value), 'an object');
}

function unknownKey(
  key: string,
  path: string,
  known: readonly string[],
  refusedKeys: RefusedKeys,
): PalimpsestError {
  const reason = Object.hasOwn(refusedKeys, key) ? refusedKeys[key] : undefined;
  const nearest = nearestKey(key, known);
  return invalidConfig(
    `${excerpt(key)} in ${path} is unknown.`,
    excerpt(key),
    [...known],
    reason ?? (nearest === null ? undefined : `Did you mean ${nearest}?`),
  );
}

/** The key that was meant: in its own section, else under its own name in another, else anywhere. */
function nearestKey(key: string, known: readonly string[]): string | null {
  const section = key.slice(0, key.lastIndexOf('.') + 1);
  const name = key.slice(section.length);
  const depth = key.split('.').length;
  const siblings = known.filter((other) => other.startsWith(section)).map((other) => upTo(other, depth));
  const elsewhere = known.find((other) => other.endsWith(`.${name}`)) ?? null;
  return nearestName(key, [...new Set(siblings)]) ?? elsewhere ?? nearestName(key, known);
}

function upTo(key: string, depth: number): string {
  return key.split('.').slice(0, depth).join('.');
}

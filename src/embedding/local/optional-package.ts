import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PalimpsestError } from '../../core/errors.ts';

/** A package that users install beside this one, because not everybody wants its size. */
export interface OptionalPackage {
  readonly name: string;
  /** What its `version` must be: exactly this, or of this major version and not older. */
  readonly version: { readonly exactly: string } | { readonly from: string };
}

/**
 * Checks that the packages are there, in versions that are known to work. npm leaves optional packages out without
 * a word, and an import would fail long after the start.
 *
 * @param wantedFor what can't be done without them, such as `The embedding provider minilm`
 * @throws PalimpsestError `invalid_config` with the command that installs what is missing
 */
export function requirePackages(packages: readonly OptionalPackage[], wantedFor: string): void {
  const faults = packages.map(faultOf).filter((fault) => fault !== null);
  if (faults.length === 0) return;
  const command = `npm install ${packages.map(({ name, version }) => `${name}@${installable(version)}`).join(' ')}`;
  throw new PalimpsestError(
    'invalid_config',
    `${wantedFor} needs packages that are not installed: ${faults.join('; ')}. Run: ${command}`,
    {
      details: [
        {
          path: 'embedding.provider',
          got: faults.join('; '),
          allowed: packages.map(({ name, version }) => `${name} ${installable(version)}`),
          hint: `Run: ${command}`,
        },
      ],
    },
  );
}

function installable(version: OptionalPackage['version']): string {
  return 'exactly' in version ? version.exactly : `^${version.from}`;
}

function faultOf({ name, version }: OptionalPackage): string | null {
  const installed = installedVersion(name);
  if (installed === null) return `${name} is missing`;
  return isWanted(installed, version) ? null : `${name} is of version ${installed}`;
}

/**
 * The version of an installed package, found as an import of it would find it. Not by `require.resolve`, which
 * can't see packages that export to `import` alone.
 */
function installedVersion(name: string): string | null {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const file = folders.map((folder) => join(folder, name, 'package.json')).find((path) => existsSync(path));
  if (file === undefined) return null;
  const description: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const hasVersion = typeof description === 'object' && description !== null && 'version' in description;
  return hasVersion && typeof description.version === 'string' ? description.version : 'unknown';
}

function isWanted(installed: string, version: OptionalPackage['version']): boolean {
  if ('exactly' in version) return installed === version.exactly;
  const [wanted, got] = [numbersOf(version.from), numbersOf(installed)];
  if (got[0] !== wanted[0]) return false;
  const place = got.findIndex((number, index) => number !== wanted[index]);
  return place === -1 || (got[place] ?? 0) > (wanted[place] ?? 0);
}

function numbersOf(version: string): readonly number[] {
  return version.split(/[.-]/, 3).map(Number);
}

/** What a package exports. The name is not written as a literal, so that its absence is not an error of the build. */
export async function importPackage(name: string): Promise<Readonly<Record<string, unknown>>> {
  const exported: Readonly<Record<string, unknown>> = await import(name);
  return exported;
}

/** @throws PalimpsestError `embedding_failed` where the package does not export such a function */
export function exportedFunction(
  exported: Readonly<Record<string, unknown>>,
  name: string,
): (...values: unknown[]) => unknown {
  const value = exported[name];
  if (typeof value === 'function') return (...values) => Reflect.apply(value, undefined, values);
  throw new PalimpsestError('embedding_failed', `The installed package exports no function ${name}.`, {
    details: [{ got: typeof value, allowed: 'a function', hint: 'Install the version this server names.' }],
  });
}

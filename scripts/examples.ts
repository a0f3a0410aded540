import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A small package in examples/: it runs, says what happened, and ends with an error where that is not what it should be. */
export interface Example {
  readonly name: string;
  readonly folder: string;
  /** Versions of the packages it needs, besides this one. */
  readonly dependencies: Readonly<Record<string, string>>;
}

const EXAMPLES = join(import.meta.dirname, '..', 'examples');

export function listExamples(packageName: string): Example[] {
  return readdirSync(EXAMPLES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const folder = join(EXAMPLES, name);
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        dependencies: Record<string, string>;
      };
      const { [packageName]: _, ...dependencies } = manifest.dependencies;
      return { name, folder, dependencies };
    });
}

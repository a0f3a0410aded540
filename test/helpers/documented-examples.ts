import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** A Markdown page whose examples are run. */
export interface DocumentedPage {
  /** The fenced parts of a language, in order. */
  fences(language: string): readonly string[];
  /** Its `ts` parts are one program; undefined where there are none. What it imports is the source. */
  readonly program: string | undefined;
  /** What the page says the program prints; undefined where it says nothing. */
  readonly prints: string | undefined;
}

/** @param path - From the root of the repository, such as `docs/mcp.md`. */
export function documentedPage(path: string): DocumentedPage {
  const page = readFileSync(join(ROOT, path), 'utf8');
  const fences = (language: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text ?? '');
  const joined = (language: string) => {
    const parts = fences(language);
    return parts.length === 0 ? undefined : parts.join('');
  };
  return { fences, program: fromSource(joined('ts')), prints: joined('text') };
}

/** A program that imports the package's source instead of what is built from it. */
function fromSource(program: string | undefined): string | undefined {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { default: string }>;
  };
  return program?.replace(/from 'palimpsest(\/[\w-]+)?'/g, (_import, entry: string | undefined) => {
    const target = exports[`.${entry ?? ''}`];
    if (typeof target !== 'object') throw new Error(`The package has no entry ${entry}.`);
    const source = target.default.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts');
    return `from '${join(ROOT, source)}'`;
  });
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { listExamples } from '../../scripts/examples.ts';
import { documentedPage } from '../helpers/documented-examples.ts';

const examples = listExamples(manifest.name);

/** Subpaths that belong to a framework. */
const ADAPTERS = Object.entries(manifest.exports)
  .filter(([, target]) => JSON.stringify(target).includes('/adapters/'))
  .map(([subpath]) => subpath.slice('./'.length));

const withoutEmptyLines = (text: string) => text.replaceAll(/\n+/g, '\n');

test('each way to the memory has an example', () => {
  expect(examples.map(({ name }) => name).sort()).toEqual(
    ['library', 'http-client', 'mcp-client', ...ADAPTERS].sort(),
  );
});

test.each(examples)('examples/$name needs the very versions that are tested', ({ dependencies }) => {
  expect({ ...manifest.dependencies, ...manifest.devDependencies }).toMatchObject(dependencies);
});

describe.each(ADAPTERS)('%s', (adapter) => {
  test('its page shows the example, whole', () => {
    const page = documentedPage(`docs/in-five-minutes/${adapter}.md`).fences('ts').join('');
    const program = readFileSync(join(import.meta.dirname, '../../examples', adapter, 'main.ts'), 'utf8');
    expect(withoutEmptyLines(page)).toBe(withoutEmptyLines(program));
  });

  test('the README names its page', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
    expect(readme).toContain(`(docs/in-five-minutes/${adapter}.md) | \`palimpsest/${adapter}\``);
  });
});

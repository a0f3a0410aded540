import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BOOSTED_PROFILE } from '../../src/core/defaults.ts';
import { type RankInput, rank } from '../../src/core/ranking/rank.ts';
import { candidate, NOW, rule } from '../helpers/candidates.ts';
import { plantTree } from '../helpers/planted-tree.ts';

const PROJECT = join(import.meta.dirname, '..', '..');

interface CoreBundle {
  /** One script that sets the variable `core`: each source file's exports under its path. */
  readonly code: string;
  /** Every module that went into it, relative to the tree. */
  readonly modules: readonly string[];
  /** Every module it still needs from outside. */
  readonly externals: readonly string[];
}

/** Bundles all of a tree's src/core, types aside, into one script. */
async function bundleCore(root: string): Promise<CoreBundle> {
  const files = globSync('src/core/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  const entry = join(root, 'every-file-of-core');
  const exports = files.map(
    (file) => `export * as ${JSON.stringify(file)} from ${JSON.stringify(join(root, file))};`,
  );
  const modules: string[] = [];
  const result = await build({
    root,
    configFile: false,
    logLevel: 'silent',
    // Without `noExternal` a package would be left out of the bundle, and its name would be all we see of it.
    ssr: { noExternal: true },
    build: {
      ssr: true,
      write: false,
      rolldownOptions: { input: entry, output: { format: 'iife', name: 'core' } },
    },
    plugins: [
      {
        name: 'every-file-of-core',
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? exports.join('\n') : null),
        // Not the chunk's own list: a module of which only a constant is used is gone from that.
        moduleParsed: ({ id }) => {
          if (id !== entry) modules.push(relative(root, id));
        },
      },
    ],
  });
  const [output] = [result].flat();
  if (output === undefined || !('output' in output)) throw new Error('Vite watches instead of building.');
  const [chunk] = output.output;
  return {
    code: chunk.code,
    modules,
    externals: [...chunk.imports, ...chunk.dynamicImports],
  };
}

describe('src/core, bundled', () => {
  let bundle: CoreBundle;

  beforeAll(async () => {
    bundle = await bundleCore(PROJECT);
  });

  test('needs no package and no node: module', () => {
    expect(bundle.externals).toEqual([]);
  });

  test('holds nothing from outside src/core', () => {
    expect(bundle.modules).toContain('src/core/ranking/rank.ts');
    expect(bundle.modules.filter((path) => !path.startsWith('src/core/'))).toEqual([]);
  });

  test('ranks in a bare context, without process, Buffer or fetch, and with a clock and a die that throw', () => {
    const input: RankInput = {
      candidates: [candidate({ id: 'a' }), candidate({ id: 'b', similarity: 0.9, ageDays: 3 })],
      profile: BOOSTED_PROFILE,
      rules: [rule('notes', 0.1)],
      hasQuery: true,
      now: NOW,
      topK: 1,
      minScore: 0,
      relativeCutoff: 0,
    };
    const context = createContext({});
    runInContext(
      `Math.random = Date.now = () => { throw new Error('not pure'); };
       Date = new Proxy(Date, { construct: (date, args) => {
         if (args.length === 0) throw new Error('not pure');
         return new date(...args);
       } });`,
      context,
    );
    expect(() => runInContext('new Date()', context)).toThrow('not pure');
    runInContext(`${bundle.code}\nthis.core = core;`, context);
    const answer: unknown = runInContext(
      `JSON.stringify(core['src/core/ranking/rank.ts'].rank(JSON.parse(${JSON.stringify(JSON.stringify(input))})))`,
      context,
    );
    expect(answer).toBe(JSON.stringify(rank(input)));
  });
});

describe('the check itself', () => {
  const trees: { remove: () => void }[] = [];
  afterAll(() => {
    for (const tree of trees) tree.remove();
  });

  async function bundlePlanted(source: string): Promise<CoreBundle> {
    const tree = plantTree({
      'src/core/planted.ts': source,
      'src/store/neighbour.ts': 'export const near = 1;',
    });
    trees.push(tree);
    return bundleCore(tree.root);
  }

  test('sees a node: module', async () => {
    const { externals } = await bundlePlanted(
      "import { hash } from 'node:crypto';\nexport const digest = hash;",
    );
    expect(externals).toEqual(['node:crypto']);
  });

  test('sees a package', async () => {
    const { modules } = await bundlePlanted(
      "import { stemmer } from 'stemmer';\nexport const stem = stemmer;",
    );
    expect(modules.some((path) => path.includes('node_modules/stemmer/'))).toBe(true);
  });

  test('sees another folder of src', async () => {
    const { modules } = await bundlePlanted("export { near } from '../store/neighbour.ts';");
    expect(modules).toContain('src/store/neighbour.ts');
  });
});

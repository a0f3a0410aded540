import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plantTree } from '../helpers/planted-tree.ts';

const SOUND_TREE = {
  'src/core/age.ts': 'export const age = (now: Date): number => now.getTime() - new Date(0).getTime();',
  'src/core/age.test.ts': 'export const now = Date.now();',
  'src/config/config.ts': 'export const port = process.env.PORT;',
  'src/cli/main.ts': "console.log('ready');",
};

/** Each line: the rule, the file that breaks it, and how. `plugin` is a rule of lint/*.grit. */
const BREACHES: [rule: string, file: string, content: string][] = [
  ['plugin', 'src/core/a.ts', 'export const now = Date.now();'],
  ['plugin', 'src/core/b.ts', 'export const now = new Date();'],
  ['plugin', 'src/core/c.ts', 'export const now = new Date;'],
  ['plugin', 'src/core/d.ts', 'export const dice = Math.random();'],
  ['plugin', 'src/core/e.ts', 'export const now = performance.now();'],
  ['plugin', 'src/core/f.ts', 'export const id = crypto.randomUUID();'],
  ['plugin', 'src/core/g.ts', 'export const now = process.hrtime();'],
  ['plugin', 'src/core/h.ts', "export type Row = import('../store/row.ts').Row;"],
  ['lint/style/noProcessEnv', 'src/http/a.ts', 'export const port = process.env.PORT;'],
  ['lint/style/noProcessEnv', 'src/cli/a.ts', 'export const port = process.env.PORT;'],
  ['lint/suspicious/noConsole', 'src/service/a.ts', "console.log('here');"],
  ['lint/suspicious/noExplicitAny', 'src/store/a.ts', 'export const row: any = 1;'],
  ['lint/style/noDefaultExport', 'src/store/b.ts', 'export default 1;'],
];

function findingsIn(files: Record<string, string>): string[] {
  const tree = plantTree(files, ['biome.json', 'lint', '.gitignore']);
  try {
    const biome = join(tree.root, 'node_modules', '.bin', 'biome');
    const { stdout } = spawnSync(biome, ['lint', '--reporter=github', 'src'], {
      cwd: tree.root,
      encoding: 'utf8',
    });
    return [...stdout.matchAll(/^::error title=([^,]+),file=[^,]*?(src\/[^,]+),/gm)].map(
      ([, rule, file]) => `${rule}: ${file}`,
    );
  } finally {
    tree.remove();
  }
}

test('a tree that keeps the lint rules passes', () => {
  expect(findingsIn(SOUND_TREE)).toEqual([]);
});

test('each breach of a lint rule is found, and nothing else', () => {
  const planted = Object.fromEntries(BREACHES.map(([, file, content]) => [file, content]));
  const expected = BREACHES.map(([rule, file]) => `${rule}: ${file}`);
  expect(findingsIn({ ...SOUND_TREE, ...planted }).sort()).toEqual(expected.sort());
});

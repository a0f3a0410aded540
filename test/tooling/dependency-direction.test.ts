import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import { describe, expect, test } from 'vitest';
import { findViolations } from '../../scripts/check-boundaries.ts';
import { plantTree } from '../helpers/planted-tree.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** What the other files point at; nothing in it breaks a rule. */
const SOUND_TREE = {
  'src/core/score.ts': 'export interface Score { value: number }\nexport const zero: Score = { value: 0 };',
  'src/core/score.test.ts': "import { readFileSync } from 'node:fs';\nimport { test } from 'vitest';",
  'src/contract/wire.ts':
    "import { z } from 'zod';\nexport type Wire = string;\nexport const wire = z.string();",
  'src/config/config.ts': "import { zero } from '../core/score.ts';\nexport const config = zero;",
  'src/service/recall.ts':
    "import type { Score } from '../core/score.ts';\nexport const recall = (score: Score) => score;",
  'src/store/sql.ts': "import pg from 'pg';\nimport '../core/score.ts';\nexport interface Row { id: string }",
  'src/http/routes.ts': "import '../contract/wire.ts';\nimport '../service/recall.ts';",
  'src/client/client.ts': "import type { Wire } from '../contract/wire.ts';",
  'src/adapters/framework.ts': "import '../client/client.ts';\nimport { tool } from 'ai';",
  'src/eval/run.ts': "import '../service/recall.ts';",
  'src/cli/commands.ts': "import '../config/config.ts';\nimport '../eval/run.ts';",
  'src/cli/main.ts':
    "import '../app.ts';\nimport '../app-mcp.ts';\nimport '../app-backup.ts';\nimport './commands.ts';",
  'src/testing/suite.ts': "import '../app.ts';\nimport '../store/sql.ts';",
  'src/app.ts': "import './store/sql.ts';\nimport './http/routes.ts';",
  'src/app-mcp.ts': "import './http/routes.ts';\nexport const later = () => import('./app.ts');",
  'src/app-backup.ts': "import './store/sql.ts';\nimport './http/routes.ts';",
  'src/index.ts': "export * from './app.ts';",
  'console/page.ts': "import type { Wire } from '../src/contract/wire.ts';",
};

/** Each line: the rule, the file that breaks it, and how. */
const BREACHES: [rule: string, file: string, content: string][] = [
  ['core-imports-no-package', 'src/core/a.ts', "import { readFileSync } from 'node:fs';"],
  ['core-imports-no-package', 'src/core/b.ts', "import 'fs';"],
  ['core-imports-no-package', 'src/core/c.ts', "import { z } from 'zod';"],
  ['core-imports-no-package', 'src/core/d.ts', "export const later = () => import('node:crypto');"],
  ['core-imports-no-package', 'src/core/e.ts', "import type { Stats } from 'node:fs';"],
  ['core-imports-only-what-it-may', 'src/core/f.ts', "import type { Row } from '../store/sql.ts';"],
  ['core-imports-only-what-it-may', 'src/core/g.ts', "export { recall } from '../service/recall.ts';"],
  ['contract-imports-only-what-it-may', 'src/contract/a.ts', "import '../service/recall.ts';"],
  ['service-imports-only-what-it-may', 'src/service/a.ts', "import { type Row } from '../store/sql.ts';"],
  ['store-imports-only-what-it-may', 'src/store/a.ts', "import '../service/recall.ts';"],
  ['embedding-imports-only-what-it-may', 'src/embedding/a.ts', "import '../store/sql.ts';"],
  ['tokenizer-imports-only-what-it-may', 'src/tokenizer/a.ts', "import '../service/recall.ts';"],
  ['config-imports-only-what-it-may', 'src/config/a.ts', "import '../service/recall.ts';"],
  ['eval-imports-only-what-it-may', 'src/eval/a.ts', "import '../store/sql.ts';"],
  ['client-imports-only-what-it-may', 'src/client/a.ts', "import '../service/recall.ts';"],
  ['adapters-imports-only-what-it-may', 'src/adapters/a.ts', "import '../store/sql.ts';"],
  ['http-imports-only-what-it-may', 'src/http/a.ts', "import '../store/sql.ts';"],
  ['mcp-imports-only-what-it-may', 'src/mcp/a.ts', "import type { Row } from '../store/sql.ts';"],
  ['cli-imports-only-what-it-may', 'src/cli/a.ts', "import '../store/sql.ts';"],
  ['every-folder-has-a-place', 'src/helpers/a.ts', "import '../core/score.ts';"],
  ['every-folder-has-a-place', 'src/other.ts', "import './core/score.ts';"],
  ['only-entry-points-import-app', 'src/http/b.ts', "import '../app.ts';"],
  ['only-entry-points-import-app', 'src/cli/b.ts', "import '../app.ts';"],
  ['only-entry-points-import-app', 'src/mcp/b.ts', "import '../app-mcp.ts';"],
  ['no-index-from-inside', 'src/service/b.ts', "import '../index.ts';"],
  ['no-import-cycle', 'src/store/left.ts', "import type { Right } from './right.ts';\nexport type Left = 1;"],
  ['no-import-cycle', 'src/store/right.ts', "import type { Left } from './left.ts';\nexport type Right = 1;"],
  ['source-imports-source-only', 'src/service/c.ts', "import '../../test/helper.ts';"],
  ['no-development-package-in-source', 'src/store/b.ts', "import 'vitest';"],
  ['frameworks-belong-to-adapters', 'src/service/d.ts', "import type { Tool } from 'ai';"],
  ['imports-resolve', 'src/store/c.ts', "import './missing.ts';"],
  ['console-speaks-http', 'console/a.ts', "import '../src/core/score.ts';"],
  ['console-takes-contract-types-only', 'console/b.ts', "import { wire } from '../src/contract/wire.ts';"],
  [
    'console-takes-contract-types-only',
    'console/c.ts',
    "import { type Wire, wire } from '../src/contract/wire.ts';",
  ],
];

async function violationsIn(files: Record<string, string>): Promise<string[]> {
  const tree = plantTree({ 'package.json': PACKAGE_JSON, 'test/helper.ts': '', ...files });
  try {
    const { violations } = await findViolations(tree.root);
    return violations.map(({ rule, from }) => `${rule.name}: ${from}`).sort();
  } finally {
    tree.remove();
  }
}

const PACKAGE_JSON = JSON.stringify({
  dependencies: { pg: '*', zod: '*' },
  devDependencies: { vitest: '*', ai: '*' },
  peerDependencies: { ai: '*' },
});

describe('the dependency direction', () => {
  test('a tree that keeps it passes', async () => {
    expect(await violationsIn(SOUND_TREE)).toEqual([]);
  });

  test('each breach is found, and nothing else', async () => {
    const planted = Object.fromEntries(BREACHES.map(([, file, content]) => [file, content]));
    const found = await violationsIn({ ...SOUND_TREE, ...planted });
    // A cycle is told once, from either of its files.
    const expected = BREACHES.map(([rule, file]) => `${rule}: ${file}`).filter(
      (line) => !line.endsWith('right.ts'),
    );
    expect(found).toEqual(expected.sort());
  });

  test('is the one that CONTRIBUTING.md shows', async () => {
    const { forbidden = [] } = await extractConfig(join(ROOT, '.dependency-cruiser.mjs'));
    const ruled = forbidden.flatMap(({ comment = '' }) => {
      const [, folder, allowed = ''] = /^src\/(\w+) may import (.*)\.$/.exec(comment) ?? [];
      return folder === undefined ? [] : [[folder, allowed.startsWith('no other') ? '' : allowed]];
    });
    const rows = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').matchAll(
      /^\| `src\/(\w+)` \|.*\| (.*) \|$/gm,
    );
    const shown = [...rows].map(([, folder, allowed = '']) => [folder, allowed.replace(/^nothing.*/, '')]);
    const inOrder = (lists: (string | undefined)[][]) =>
      Object.fromEntries(lists.map(([folder, allowed = '']) => [folder, allowed.split(', ').sort()]));
    // What may import anything has no rule.
    expect(inOrder(shown.filter(([, allowed]) => allowed !== 'anything'))).toEqual(inOrder(ruled));
    expect(ruled.length).toBeGreaterThan(10);
  });
});

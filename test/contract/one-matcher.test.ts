import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  matchesScope,
  parseScope,
  ruleCovers,
  ruleRegexSource,
  scopeRegexSource,
} from '../../src/core/namespace.ts';
import { anyPath, anyPattern } from '../helpers/namespace-arbitraries.ts';
import {
  makeMigrationsFolder,
  openTestSqlDatabase,
  runStatement,
  type TestSqlDatabase,
} from '../helpers/test-sql-database.ts';

/*
 * A pattern is compiled once, to a regular expression, and read by two engines: JavaScript's here, PostgreSQL's
 * in a query and in row-level security. They must not disagree on a single namespace.
 */

const migrations = makeMigrationsFolder();
let opened: TestSqlDatabase;

beforeAll(async () => {
  opened = await openTestSqlDatabase(migrations.directory);
});
afterAll(async () => {
  await opened.close();
  migrations.remove();
});

/** Which of the paths PostgreSQL matches, in their order. */
async function matchedByPostgres(paths: readonly string[], source: string): Promise<boolean[]> {
  const rows = await runStatement<{ matches: boolean }>(
    opened.database,
    'SELECT path ~ $2 AS matches FROM unnest($1::text[]) WITH ORDINALITY AS given (path, place) ORDER BY place',
    [paths, source],
  );
  return rows.map(({ matches }) => matches);
}

test('JavaScript and PostgreSQL agree on what a scope reads and a rule covers', async () => {
  const paths = fc.sample(anyPath, 100);
  let matchCount = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyPattern, { minLength: 1, maxLength: 3 }), async (patterns) => {
      const [pattern = ''] = patterns;
      const inScope = await matchedByPostgres(paths, scopeRegexSource(patterns));
      const covered = await matchedByPostgres(paths, ruleRegexSource(pattern));
      expect(inScope).toEqual(paths.map((path) => matchesScope(patterns, path)));
      expect(covered).toEqual(paths.map((path) => ruleCovers(pattern, path)));
      matchCount += [...inScope, ...covered].filter(Boolean).length;
    }),
    { numRuns: 200 },
  );
  expect(matchCount).toBeGreaterThan(1000);
});

test('no pattern at all matches nothing in either', async () => {
  expect(await matchedByPostgres(['a', 'a.b'], scopeRegexSource([]))).toEqual([false, false]);
});

test('PostgreSQL compiles the largest scopes that are allowed in well under a second', async () => {
  const letter = (index: number) => String.fromCharCode(0x4e00 + (index % 250));
  const scopes = {
    'variables and single letters in turn': Array.from({ length: 64 }, (_, pattern) =>
      Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? '${x}' : letter(pattern * 8 + index))).join(
        '.',
      ),
    ),
    'stars and long words in turn': Array.from({ length: 32 }, (_, pattern) =>
      Array.from({ length: 16 }, (_, index) =>
        index % 2 === 0
          ? '*'
          : Array.from({ length: 28 }, (_, at) => letter(pattern * 31 + index + at)).join(''),
      ).join('.'),
    ),
    'exact paths': Array.from({ length: 4 }, (_, pattern) =>
      Array.from({ length: 16 }, (_, index) => letter(pattern + index).repeat(127)).join('.'),
    ),
  };
  const path = Array(16).fill('a').join('.');
  for (const [name, patterns] of Object.entries(scopes)) {
    // 20 to 320 ms. Without the limits of `parseScope` such scopes took a minute each, or failed.
    expect(await matchedByPostgres([path], scopeRegexSource(parseScope(patterns))), name).toEqual([false]);
  }
});

/**
 * src/store/schema.sql, the schema the migrations make.
 *
 *   npm run schema          writes it from the migrations
 *   npm run check:schema    fails when it is not what the migrations make
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeSchema } from '../src/store/describe-schema.ts';
import { openPglite } from '../src/store/pglite.ts';

const FILE = join(import.meta.dirname, '..', 'src', 'store', 'schema.sql');

const HEADING = `-- The schema that the migrations make, as text. Made by "npm run schema": do not edit.
-- It is for reading and comparing: databases are made by the migrations.

`;

async function schemaOfMigrations(): Promise<string> {
  const database = await openPglite({ template: null });
  try {
    return HEADING + (await describeSchema(database));
  } finally {
    await database.close();
  }
}

/** What differs, in the form reviewers know. */
function difference(expected: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-schema-'));
  try {
    const made = join(folder, 'schema.sql');
    writeFileSync(made, expected);
    return spawnSync('git', ['diff', '--no-index', '--', FILE, made], { encoding: 'utf8' }).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const schema = await schemaOfMigrations();
if (!process.argv.includes('--check')) writeFileSync(FILE, schema);
else if (readFileSync(FILE, 'utf8') !== schema) {
  console.error(difference(schema));
  console.error(
    'src/store/schema.sql is not what the migrations make: run "npm run schema" and look at the change.',
  );
  process.exitCode = 1;
} else console.log('src/store/schema.sql is what the migrations make.');

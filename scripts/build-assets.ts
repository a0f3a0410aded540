/**
 * What the package needs beside compiled code: the migrations, the schema they make, and a migrated, empty
 * database to start new ones from. Run by scripts/build.ts after the compiler.
 */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { MIGRATIONS_DIRECTORY } from '../src/store/migrate.ts';
import { makeTemplate, templateName } from '../src/store/pglite/template.ts';

const SOURCE = join(import.meta.dirname, '..', 'src', 'store');
const OUTPUT = join(import.meta.dirname, '..', 'dist', 'store');

cpSync(MIGRATIONS_DIRECTORY, join(OUTPUT, 'migrations'), { recursive: true });
cpSync(join(SOURCE, 'schema.sql'), join(OUTPUT, 'schema.sql'));
const template = gzipSync(await makeTemplate(), { level: constants.Z_BEST_COMPRESSION });
writeFileSync(join(OUTPUT, await templateName()), template);

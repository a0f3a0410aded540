import type { Config } from '../config/config.ts';
import { PalimpsestError } from '../core/errors.ts';
import type { DatabaseInspection, DiskSpace, Inspection, ModelInspection } from '../core/inspection.ts';
import type { VectorIndex } from '../core/vector-index.ts';

/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  /** `warn`: it works, and is probably not meant, or not for long. */
  readonly status: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do; null where there is nothing to do. */
  readonly advice: string | null;
}

/** The first pgvector that can go on scanning an index until enough rows pass a filter. */
const LEAST_VECTOR = { major: 0, minor: 8 };
const MIB = 1024 ** 2;
/** A database that can not write its log stops; a little room is left for whoever frees more. */
const LEAST_FREE_BYTES = 100 * MIB;
const LITTLE_FREE_BYTES = 1024 * MIB;
/** A clock further off than this makes "now" in expiry and recency visibly wrong. */
const MAX_CLOCK_OFFSET_MS = 5_000;
const DOUBTFUL_CLOCK_OFFSET_MS = 1_000;
const NTP = 'Set both by NTP: expiry and recency read the time.';

/**
 * What is well, what is not, and what to do about it.
 *
 * @param now milliseconds since the epoch, by this machine
 */
export function doctorChecks(config: Config, inspection: Inspection, now: number): Check[] {
  const { database, disk, models } = inspection;
  return [
    configurationCheck(config),
    ...(disk === null ? [] : [diskCheck(disk)]),
    ...databaseChecks(database, now),
    ...modelChecks(models),
  ];
}

/** A check of what could not be read or done at all. */
export function failedCheck(name: string, error: PalimpsestError): Check {
  const hints = error.details.flatMap(({ hint }) => hint ?? []);
  return fail(name, error.message, [...new Set(hints)].join(' ') || null);
}

function configurationCheck({ file, store, identity, embedding, warnings }: Config): Check {
  const place = 'dataDir' in store ? `embedded store in ${store.dataDir}` : 'PostgreSQL';
  const found = `${file ?? 'no file'}; ${place}; identities ${identity.mode}; embedding mode ${embedding.mode}`;
  return warnings.length === 0
    ? ok('configuration', found)
    : warn('configuration', found, warnings.join('\n'));
}

function diskCheck({ folder, freeBytes, isWritable }: DiskSpace): Check {
  const found = `${Math.floor(freeBytes / MIB)} MiB free at ${folder}`;
  if (!isWritable) {
    return fail(
      'disk',
      `${found}, which this user may not write to`,
      'Name a directory of this user, or chown it.',
    );
  }
  if (freeBytes < LEAST_FREE_BYTES)
    return fail('disk', found, 'Free some room: the database stops when none is left.');
  if (freeBytes < LITTLE_FREE_BYTES) return warn('disk', found, 'Free some room soon.');
  return ok('disk', found);
}

function databaseChecks(database: Inspection['database'], now: number): Check[] {
  if (database === null) return [ok('database', 'none yet: the first use makes it')];
  if (PalimpsestError.isInstance(database)) return [unreachable(database)];
  const { backend, serverVersion, user } = database;
  const isMigrated = database.migrations.applied > 0;
  return [
    ok('database', `${backend} ${serverVersion} answers, as user ${user}`),
    vectorCheck(database),
    migrationCheck(database),
    ...(isMigrated ? [roleCheck(database), rowSecurityCheck(database)] : []),
    ...database.vectorIndexes.map(vectorIndexCheck),
    clockCheck(database, now),
  ];
}

/** A directory in use is as it should be while a server runs; only there is nothing to see. */
function unreachable(error: PalimpsestError): Check {
  const check = failedCheck('database', error);
  return error.code === 'store_locked' ? { ...check, status: 'warn' } : check;
}

function vectorCheck({ vectorExtension: { installed, available } }: DatabaseInspection): Check {
  const name = 'pgvector';
  const install = 'Install pgvector 0.8 or newer on the database server.';
  if (installed === null) {
    if (available === null) return fail(name, 'this server does not have it', install);
    if (!isNewEnough(available)) return fail(name, `this server has ${available}`, install);
    return ok(name, `${available}, which the migrations install`);
  }
  if (isNewEnough(installed)) return ok(name, installed);
  const update = available !== null && isNewEnough(available);
  return fail(name, installed, update ? 'Run in this database: ALTER EXTENSION vector UPDATE;' : install);
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > LEAST_VECTOR.major || (major === LEAST_VECTOR.major && minor >= LEAST_VECTOR.minor);
}

function migrationCheck({ migrations: { applied, known } }: DatabaseInspection): Check {
  const found = `${applied} of ${known} applied`;
  if (applied === known) return ok('migrations', found);
  const advice =
    'The next start applies the rest. On a database that matters, back it up first; the role needs the right to create schemas, roles and extensions.';
  return warn('migrations', found, advice);
}

function roleCheck({ roles, user, migrations }: DatabaseInspection): Check {
  const name = 'roles';
  const named = (wanted: DatabaseInspection['roles']) => wanted.map((role) => role.name).join(', ');
  const mighty = roles.filter(({ bypassesRls }) => bypassesRls);
  if (mighty.length > 0) {
    return fail(
      name,
      `${named(mighty)} can bypass row-level security: everybody could read everything`,
      mighty.map((role) => `ALTER ROLE ${role.name} NOSUPERUSER NOBYPASSRLS;`).join(' '),
    );
  }
  const missing = roles.filter(({ exists }) => !exists);
  if (missing.length > 0 && migrations.applied === migrations.known) {
    return fail(
      name,
      `${named(missing)} missing`,
      'Roles are not part of a dump of one database: restore them with pg_dumpall --roles-only.',
    );
  }
  const closed = roles.filter(({ exists, mayBeEntered }) => exists && !mayBeEntered);
  if (closed.length > 0) {
    return fail(
      name,
      `the user ${user} may not run under ${named(closed)}`,
      `GRANT ${named(closed)} TO ${quoted(user)};`,
    );
  }
  return ok(name, "requests run under roles that can't bypass row-level security");
}

function rowSecurityCheck({ unguardedTables }: DatabaseInspection): Check {
  const name = 'row-level security';
  if (unguardedTables.length === 0) return ok(name, 'forced on every table');
  return fail(
    name,
    `not forced on ${unguardedTables.join(', ')}`,
    unguardedTables
      .map((table) => `ALTER TABLE app.${quoted(table)} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;`)
      .join(' '),
  );
}

/** Nobody needs an index: without one every search is exact. */
function vectorIndexCheck({ modelId, state }: VectorIndex): Check {
  const name = 'vector index';
  const found = `${state}, for the model ${modelId}`;
  if (state !== 'invalid') return ok(name, found);
  return warn(
    name,
    found,
    `Its building ended before its end: it slows writes and serves no search. Build it anew with palimpsest index create --model ${modelId}, or remove it with palimpsest index drop --model ${modelId}.`,
  );
}

function clockCheck({ clockOffsetMs, lastMigrationAt }: DatabaseInspection, now: number): Check {
  const name = 'clock';
  const found = `${Math.round(clockOffsetMs)} ms between the database and this machine`;
  const offset = Math.abs(clockOffsetMs);
  if (offset > MAX_CLOCK_OFFSET_MS) return fail(name, found, NTP);
  if (lastMigrationAt !== null && now < lastMigrationAt - MAX_CLOCK_OFFSET_MS) {
    return fail(
      name,
      `this machine's clock says ${new Date(now).toISOString()}; the database was migrated at ${new Date(lastMigrationAt).toISOString()}`,
      NTP,
    );
  }
  return offset > DOUBTFUL_CLOCK_OFFSET_MS ? warn(name, found, NTP) : ok(name, found);
}

function modelChecks(models: Inspection['models']): Check[] {
  const name = 'embedding';
  if (PalimpsestError.isInstance(models)) return [failedCheck(name, models)];
  if (models.length === 0) return [ok(name, 'disabled: entries are found by words')];
  return models.map((model) => modelCheck(name, model));
}

function modelCheck(name: string, { modelId, dimensions, role, error }: ModelInspection): Check {
  const shown = role === 'primary' ? name : `${name}, ${role}`;
  if (error === null) return ok(shown, `${modelId} answers with ${dimensions} dimensions`);
  const check = failedCheck(shown, error);
  return {
    ...check,
    advice: check.advice ?? 'Check the provider and its configuration (docs/embeddings.md).',
  };
}

function quoted(identifier: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(identifier) ? identifier : `"${identifier.replaceAll('"', '""')}"`;
}

function ok(name: string, found: string): Check {
  return { name, status: 'ok', found, advice: null };
}

function warn(name: string, found: string, advice: string): Check {
  return { name, status: 'warn', found, advice };
}

function fail(name: string, found: string, advice: string | null): Check {
  return { name, status: 'fail', found, advice };
}

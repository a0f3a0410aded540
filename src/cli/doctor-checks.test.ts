import { describe, expect, test } from 'vitest';
import { loadConfig } from '../config/config.ts';
import { PalimpsestError } from '../core/errors.ts';
import type { DatabaseInspection, DiskSpace, Inspection } from '../core/inspection.ts';
import type { VectorIndex } from '../core/vector-index.ts';
import { type Check, doctorChecks } from './doctor-checks.ts';

const NOW = Date.parse('2026-05-02T12:00:00Z');
const GIB = 1024 ** 3;

const INDEX: VectorIndex = {
  name: 'memory_embeddings_hnsw_0',
  modelId: 'm',
  dimensions: 4,
  indexedAs: 'vector',
  m: 16,
  efConstruction: 64,
  state: 'valid',
  bytes: 0,
  progress: null,
};
const ROLE = { name: 'palimpsest_app', exists: true, bypassesRls: false, mayBeEntered: true };
const DATABASE: DatabaseInspection = {
  backend: 'postgres',
  serverVersion: '17.2',
  user: 'memories',
  vectorExtension: { installed: '0.8.0', available: '0.8.1' },
  migrations: { applied: 4, known: 4 },
  lastMigrationAt: NOW - 86_400_000,
  roles: [ROLE, { ...ROLE, name: 'palimpsest_feedback' }],
  unguardedTables: [],
  vectorIndexes: [],
  clockOffsetMs: 12,
};
const DISK: DiskSpace = { folder: '/srv/memories', freeBytes: 50 * GIB, isWritable: true };
const MODEL = { modelId: 'hashing-512-v1', dimensions: 512, role: 'primary', error: null } as const;
const WELL: Inspection = { database: DATABASE, disk: DISK, models: [MODEL] };

function checksOf(inspection: Partial<Inspection>, file?: object): Check[] {
  const named = file === undefined ? {} : { config: 'palimpsest.json' };
  const config = loadConfig(named, {}, () => (file === undefined ? undefined : JSON.stringify(file)));
  return doctorChecks(config, { ...WELL, ...inspection }, NOW);
}

/** The one check that is not ok. */
function fault(inspection: Partial<Inspection>, file?: object): Check | undefined {
  const faults = checksOf(inspection, file).filter(({ status }) => status !== 'ok');
  expect(faults).toHaveLength(1);
  return faults[0];
}

const database = (changes: Partial<DatabaseInspection>) => ({ database: { ...DATABASE, ...changes } });

describe('doctor', () => {
  test('finds nothing wrong where nothing is, and has looked at everything', () => {
    const checks = checksOf({});
    expect(checks.filter(({ status, advice }) => status !== 'ok' || advice !== null)).toEqual([]);
    expect(checks.map(({ name }) => name)).toEqual([
      'configuration',
      'disk',
      'database',
      'pgvector',
      'migrations',
      'roles',
      'row-level security',
      'clock',
      'embedding',
    ]);
  });

  test.each<[string, Check['status'], string, string, Partial<Inspection>]>([
    [
      'a database that is away',
      'fail',
      'Could not connect',
      'Check the connection string',
      {
        database: new PalimpsestError('store_unavailable', 'Could not connect to PostgreSQL at db:5432.', {
          details: [{ hint: 'Check the connection string.' }],
        }),
      },
    ],
    [
      'a directory that a server uses',
      'warn',
      'in use by process 7',
      'Stop it',
      {
        database: new PalimpsestError('store_locked', 'It is in use by process 7.', {
          details: [{ hint: 'Stop it.' }],
        }),
      },
    ],
    [
      'a server without pgvector',
      'fail',
      'does not have it',
      'Install pgvector 0.8',
      database({
        vectorExtension: { installed: null, available: null },
        migrations: { applied: 4, known: 4 },
      }),
    ],
    [
      'an old pgvector on a server that has a newer one',
      'fail',
      '0.7.4',
      'ALTER EXTENSION vector UPDATE',
      database({ vectorExtension: { installed: '0.7.4', available: '0.8.0' } }),
    ],
    [
      'an old pgvector',
      'fail',
      '0.7.4',
      'Install pgvector 0.8',
      database({ vectorExtension: { installed: '0.7.4', available: '0.7.4' } }),
    ],
    [
      'migrations that are still to come',
      'warn',
      '2 of 4 applied',
      'next start applies the rest',
      database({ migrations: { applied: 2, known: 4 } }),
    ],
    [
      'a role that sees everything',
      'fail',
      'palimpsest_app can bypass row-level security',
      'ALTER ROLE palimpsest_app NOSUPERUSER NOBYPASSRLS;',
      database({ roles: [{ ...ROLE, bypassesRls: true }] }),
    ],
    [
      'a role that was not restored',
      'fail',
      'palimpsest_app missing',
      'pg_dumpall --roles-only',
      database({ roles: [{ ...ROLE, exists: false, mayBeEntered: false }] }),
    ],
    [
      'a user that may not take a role on',
      'fail',
      'the user App-1 may not run under palimpsest_app',
      'GRANT palimpsest_app TO "App-1";',
      database({ user: 'App-1', roles: [{ ...ROLE, mayBeEntered: false }] }),
    ],
    [
      'tables whose owner sees everything',
      'fail',
      'not forced on memories',
      'ALTER TABLE app.memories ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;',
      database({ unguardedTables: ['memories'] }),
    ],
    [
      'an index whose building was killed',
      'warn',
      'invalid, for the model m',
      'palimpsest index create --model m',
      database({ vectorIndexes: [{ ...INDEX, state: 'invalid' }] }),
    ],
    ['a clock that is ahead', 'fail', '-6000 ms', 'NTP', database({ clockOffsetMs: -6_000 })],
    ['a clock that is a little off', 'warn', '2000 ms', 'NTP', database({ clockOffsetMs: 2_000 })],
    [
      'a clock that stands before what has happened',
      'fail',
      'says 2026-05-02T12:00:00.000Z; the database was migrated at 2027',
      'NTP',
      database({ lastMigrationAt: Date.parse('2027-01-01T00:00:00Z') }),
    ],
    [
      'a full disk',
      'fail',
      '50 MiB free',
      'Free some room',
      { disk: { ...DISK, freeBytes: 50 * 1024 ** 2 } },
    ],
    ['a disk that is nearly full', 'warn', '512 MiB free', 'soon', { disk: { ...DISK, freeBytes: GIB / 2 } }],
    ['a folder of somebody else', 'fail', 'may not write', 'chown', { disk: { ...DISK, isWritable: false } }],
    [
      'a provider that does not answer',
      'fail',
      'did not answer within 10 s',
      'Check the provider',
      {
        models: [
          {
            ...MODEL,
            error: new PalimpsestError('embedding_failed', 'The service did not answer within 10 s.'),
          },
        ],
      },
    ],
    [
      'a provider that can not be made',
      'fail',
      'There is no embedding provider "minlim"',
      'Did you mean minilm?',
      {
        models: new PalimpsestError('invalid_config', 'There is no embedding provider "minlim".', {
          details: [{ hint: 'Did you mean minilm?' }],
        }),
      },
    ],
  ])('says what to do about %s', (_name, status, found, advice, inspection) => {
    const check = fault(inspection);
    expect(check?.status).toBe(status);
    expect(check?.found).toContain(found);
    expect(check?.advice).toContain(advice);
  });

  test('warns of what is configured and ignored', () => {
    const check = fault({}, { ranking: { priorities: { 'vector.global.*': 1.1 } } });
    expect(check).toMatchObject({ name: 'configuration', status: 'warn' });
    expect(check?.advice).toContain("palimpsest rules set 'vector.global.*' --bonus 0.1");
  });

  test('finds a new place well: the first use makes the rest', () => {
    const empty: DatabaseInspection = {
      ...DATABASE,
      vectorExtension: { installed: null, available: '0.8.0' },
      migrations: { applied: 0, known: 4 },
      lastMigrationAt: null,
      roles: [{ ...ROLE, exists: false, mayBeEntered: false }],
    };
    expect(fault({ database: empty })).toMatchObject({ name: 'migrations', status: 'warn' });
    expect(checksOf({ database: null, models: [] }).filter(({ status }) => status !== 'ok')).toEqual([]);
  });
});

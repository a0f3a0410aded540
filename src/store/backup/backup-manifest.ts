import { PalimpsestError } from '../../core/errors.ts';

/**
 * What a backup says of itself. It is the first file of the archive, and lists every other with its checksum, so that a
 * backup that was cut short or changed is noticed before anything of it is used.
 */
export interface BackupManifest {
  /** Version of the product that made it. */
  readonly productVersion: string;
  /** Number of the last migration. */
  readonly schemaVersion: number;
  /** Version of the database engine. Files of one major version are not read by another. */
  readonly postgresVersion: string;
  /** When the copy was taken, in ISO 8601. */
  readonly createdAt: string;
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Folders of the database, also the empty ones, which it needs. */
  readonly folders: readonly string[];
  readonly files: readonly BackupFile[];
}

export interface BackupFile {
  /** Below the database's folder, parts joined by `/`. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** SHA-256 in hex. */
  readonly sha256: string;
}

const FORMAT = 'palimpsest-backup';
const FORMAT_VERSION = 1;

export function manifestText(manifest: BackupManifest): string {
  const { productVersion, schemaVersion, postgresVersion, createdAt, rows, folders, files } = manifest;
  return JSON.stringify(
    {
      format: FORMAT,
      format_version: FORMAT_VERSION,
      product_version: productVersion,
      schema_version: schemaVersion,
      postgres_version: postgresVersion,
      created_at: createdAt,
      rows,
      folders,
      files,
    },
    null,
    1,
  );
}

/** @throws PalimpsestError `invalid_input` for what is no manifest, or one of a later format */
export function parseManifest(text: string): BackupManifest {
  const record = asRecord(parseJson(text));
  if (record?.format !== FORMAT) throw damagedBackup('its manifest is no manifest of a backup');
  if (record.format_version !== FORMAT_VERSION) {
    throw new PalimpsestError(
      'invalid_input',
      `The backup has format ${String(record.format_version)}; this program reads format ${FORMAT_VERSION}.`,
      { details: [{ hint: 'Use the version of Palimpsest that made it, or a later one.' }] },
    );
  }
  const { product_version, schema_version, postgres_version, created_at } = record;
  const rows = asRecord(record.rows);
  const folders = asListOf(record.folders, asPath);
  const files = asListOf(record.files, asFile);
  if (
    typeof product_version !== 'string' ||
    typeof schema_version !== 'number' ||
    typeof postgres_version !== 'string' ||
    typeof created_at !== 'string' ||
    rows === undefined ||
    folders === undefined ||
    files === undefined
  ) {
    throw damagedBackup('its manifest lacks a part');
  }
  return {
    productVersion: product_version,
    schemaVersion: schema_version,
    postgresVersion: postgres_version,
    createdAt: created_at,
    rows: Object.fromEntries(Object.entries(rows).map(([table, count]) => [table, Number(count)])),
    folders,
    files,
  };
}

/** A backup that must not be used. */
export function damagedBackup(reason: string, cause?: unknown): PalimpsestError {
  return new PalimpsestError('invalid_input', `The backup is damaged: ${reason}. Nothing was restored.`, {
    details: [{ hint: 'Take another copy of it, or an older backup.' }],
    cause,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw damagedBackup('its manifest is no JSON', error);
  }
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? (value as Record<string, unknown>) : undefined;
}

/** The list with every item read; undefined when one of them can't be. */
function asListOf<T>(value: unknown, read: (item: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value.map(read).filter((item) => item !== undefined);
  return items.length === value.length ? items : undefined;
}

function asFile(value: unknown): BackupFile | undefined {
  const { path, size, sha256 } = asRecord(value) ?? {};
  const place = asPath(path);
  if (place === undefined || typeof size !== 'number' || typeof sha256 !== 'string') return undefined;
  return { path: place, size, sha256 };
}

/** A path that stays below the folder it is meant for. */
function asPath(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const parts = value.split('/');
  return parts.some((part) => part === '' || part === '.' || part === '..' || /[\\:\0]/.test(part))
    ? undefined
    : value;
}

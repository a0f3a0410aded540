import type { Command } from 'commander';
import { LOG_LEVELS } from '../config/config.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../config/http-config.ts';
import { jsonObjectOption, numberOption, repeated, sourceOption } from './option-values.ts';

/** The namespace of what is remembered on the command line, unless it says another. */
export const DEFAULT_NAMESPACE = 'vector.user.local.notes';

/** Options every command has. */
export interface StoreOptions {
  readonly config?: string;
  readonly dataDir?: string;
  readonly databaseUrl?: string;
  readonly logLevel?: string;
  readonly json?: boolean;
}

export function withStoreOptions(command: Command): Command {
  return command
    .option('--config <file>', 'configuration (EMBEDDING_CONFIG_PATH; default: none)')
    .option(
      '--data-dir <directory>',
      "embedded store (PALIMPSEST_DATA_DIR; default: the platform's data folder)",
    )
    .option('--database-url <url>', 'PostgreSQL with pgvector instead (PALIMPSEST_DATABASE_URL)')
    .option('--log-level <level>', `${LOG_LEVELS.join(', ')} (PALIMPSEST_LOG_LEVEL; default: info)`)
    .option('--json', 'answer in JSON, for machines');
}

export interface ListenOptions {
  readonly host?: string;
  readonly port?: string;
}

export function withListenOptions(command: Command): Command {
  return command
    .option('--host <address>', `address to listen on (PALIMPSEST_HOST; default: ${DEFAULT_HOST})`)
    .option('--port <number>', `port, 0 for any free one (PALIMPSEST_PORT; default: ${DEFAULT_PORT})`);
}

/** Options that describe an entry to write. */
export interface DraftOptions {
  readonly namespace?: string;
  readonly type?: string;
  readonly tag?: string[];
  readonly metadata?: Record<string, unknown>;
  readonly importance?: number;
  readonly source?: { kind: string; ref?: string };
  readonly observedAt?: string;
  readonly expiresAt?: string;
}

export function withDraftOptions(command: Command, defaultNamespace: string): Command {
  return command
    .option('-n, --namespace <path>', `where it belongs (default: ${defaultNamespace})`)
    .option(
      '--type <word>',
      'decision, preference, fact, episode, procedure, note or your own (default: note)',
    )
    .option('--tag <word>', 'tag; may be repeated', repeated)
    .option('--metadata <json>', 'JSON object', jsonObjectOption)
    .option('--importance <number>', '0 to 1, kept exactly (default: 0.5)', numberOption)
    .option('--source <kind[:ref]>', 'where it comes from, such as chat:4711', sourceOption)
    .option('--observed-at <time>', 'when it was true or seen, such as 2026-05-02 or 2026-05-02T09:30:00Z')
    .option('--expires-at <time>', 'when it stops being found');
}

/** The draft's wire form; the contract checks it. */
export function draftOf(content: string, namespace: string, options: DraftOptions): Record<string, unknown> {
  return {
    namespace: options.namespace ?? namespace,
    content,
    type: options.type,
    tags: options.tag,
    metadata: options.metadata,
    importance: options.importance,
    source: options.source,
    observed_at: options.observedAt,
    expires_at: options.expiresAt,
  };
}

/** Options that narrow what is read. */
export interface ScopeOptions {
  readonly namespace?: string[];
  readonly type?: string[];
  readonly tag?: string[];
  readonly anyTag?: string[];
  readonly status?: string[];
  readonly observedFrom?: string;
  readonly observedUntil?: string;
  readonly where?: Record<string, unknown>;
}

export function withScopeOptions(command: Command): Command {
  return command
    .option(
      '-n, --namespace <pattern>',
      'path, or pattern such as team.*; may be repeated (default: all)',
      repeated,
    )
    .option('--type <word>', 'entries of this type; may be repeated', repeated)
    .option('--tag <word>', 'entries with this tag; repeated: with all of them', repeated)
    .option('--any-tag <word>', 'entries with this tag; repeated: with any of them', repeated)
    .option('--status <word>', 'unconfirmed, confirmed or superseded; may be repeated', repeated)
    .option('--observed-from <time>', 'observed at this time or later')
    .option('--observed-until <time>', 'observed before this time')
    .option('--where <json>', 'conditions on metadata, such as \'{"year":{"gte":2024}}\'', jsonObjectOption);
}

/** The wire form of the scope and its filter; the contract checks it. */
export function scopeOf(options: ScopeOptions): Record<string, unknown> {
  const observedAt = withoutUnset({ from: options.observedFrom, until: options.observedUntil });
  const tags = withoutUnset({ all: options.tag, any: options.anyTag });
  return {
    namespaces: options.namespace,
    filter: {
      type: options.type,
      tags,
      status: options.status,
      observed_at: observedAt,
      metadata: options.where,
    },
  };
}

function withoutUnset(fields: Record<string, unknown>): Record<string, unknown> | undefined {
  return Object.values(fields).every((value) => value === undefined) ? undefined : fields;
}

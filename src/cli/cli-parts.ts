import type { Readable, Writable } from 'node:stream';
import type { Config } from '../config/config.ts';
import type { Inspection } from '../core/inspection.ts';
import type { GovernanceService } from '../service/governance-service.ts';
import type { MemoryService } from '../service/memory-service.ts';
import type { ReembedService } from '../service/reembed-service.ts';
import type { RequestSubject } from '../service/request-context.ts';
import type { VectorIndexService } from '../service/vector-index-service.ts';

/** A running service and what ends it. */
export interface OpenedService {
  readonly service: MemoryService;
  readonly governance: GovernanceService;
  readonly reembed: ReembedService;
  readonly indexes: VectorIndexService;
  close(): Promise<void>;
}

/** A running server and what ends it. */
export interface RunningServer {
  readonly url: string;
  /** Lets running requests finish, then closes the store. */
  close(): Promise<void>;
}

/** What a command tells of a backup. */
export interface BackupSummary {
  readonly file: string;
  /** Bytes of the file. */
  readonly size: number;
  /** When the copy was taken, in ISO 8601. */
  readonly createdAt: string;
  readonly productVersion: string;
  readonly schemaVersion: number;
  readonly postgresVersion: string;
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
}

/** Told how far a step is, in bytes. */
export type OnBackupStep = (
  step: 'copy' | 'check' | 'unpack',
  progress: { readonly bytes: number; readonly total: number },
) => void;

/** Backups of embedded stores. */
export interface BackupParts {
  /** Once the signal is aborted it rejects, and leaves nothing behind; so does `restore`. */
  create(config: Config, file: string, onStep: OnBackupStep, signal: AbortSignal): Promise<BackupSummary>;
  verify(file: string, onStep: OnBackupStep): Promise<BackupSummary>;
  restore(file: string, dataDir: string, onStep: OnBackupStep, signal: AbortSignal): Promise<BackupSummary>;
}

/** What the commands work with. `main.ts` brings the real ones. */
export interface CliParts {
  readonly version: string;
  readonly stdin: Readable;
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  openMemory(config: Config): Promise<OpenedService>;
  /** Looks at everything that a server needs, and changes nothing. */
  inspect(config: Config): Promise<Inspection>;
  serve(config: Config): Promise<RunningServer>;
  /** Serves MCP on the process' own streams. Resolves when the client has left. */
  serveMcp(config: Config, subject: RequestSubject): Promise<void>;
  readonly backup: BackupParts;
  /** Resolves when the process is told to stop; a second signal ends it at once. */
  stopSignal(): Promise<void>;
}

export interface TextOutput {
  readonly stream: Writable;
  /** Resolves once the text is handed on, so that a slow reader slows the writer. */
  write(text: string): Promise<void>;
  /** Whether a person is looking. */
  readonly isTerminal: boolean;
  /** Characters in a line. */
  readonly columns: number;
}

import type { Asking } from '../core/policy.ts';
import type {
  AuditContext,
  BatchWriteOptions,
  Clock,
  ConnectionCounts,
  Deferred,
  Feedback,
  FeedbackResult,
  HistoryChain,
  ListPage,
  ListQuery,
  NamespaceRuleDraft,
  PreparedDraft,
  PreparedPatch,
  ReadView,
  Store,
  StoreHealth,
  StoreSizes,
  Successor,
} from '../core/ports.ts';
import { systemAccess } from '../core/system-access.ts';
import type { Access, MemoryEntry, NamespaceRule, WriteResult } from '../core/types.ts';
import type { HnswSearch } from './hnsw-search.ts';
import { requireDimensions } from './operations/embedding-state.ts';
import { recordFeedback } from './operations/feedback.ts';
import { readHistory } from './operations/history.ts';
import {
  forgetOne,
  purgeOne,
  restoreOne,
  setConfirmed,
  supersedeOne,
  updateOne,
} from './operations/lifecycle.ts';
import { listPage } from './operations/list.ts';
import { readRules, removeRule, writeRule } from './operations/rules.ts';
import { SqlReadView } from './operations/sql-read-view.ts';
import { writeBatch } from './operations/write-batch.ts';
import { insertModel } from './queries/embeddings.ts';
import { type HealthRow, selectHealth } from './queries/health.ts';
import { insertTenant } from './queries/namespaces.ts';
import { type SizeRow, selectSizes } from './queries/sizes.ts';
import { type RequestDatabase, settled } from './request-database.ts';

/** The store on any Postgres. Each method is one transaction under the asker's row-level security. */
export class SqlMemoryStore implements Store {
  private readonly database: RequestDatabase;
  private readonly clock: Clock;
  private readonly hnsw: HnswSearch | null;

  /** @param hnsw - Says which searches go by an approximate index. Null, the default: none. */
  constructor(database: RequestDatabase, clock: Clock, hnsw: HnswSearch | null = null) {
    this.database = database;
    this.clock = clock;
    this.hnsw = hnsw;
  }

  read<T>(asking: Asking, work: (view: ReadView) => Promise<T>): Promise<T> {
    return this.database.reading(asking, (tx, access) => work(new SqlReadView(tx, access, this.hnsw)));
  }

  write(
    asking: Asking,
    drafts: Deferred<readonly PreparedDraft[]>,
    audit: AuditContext,
    options: BatchWriteOptions = {},
  ): Promise<WriteResult[]> {
    return this.database.writing(asking, async (tx, access) => {
      const batch = settled(drafts);
      return batch.length === 0 ? [] : (await writeBatch(tx, access, batch, audit, options)).results;
    });
  }

  update(
    asking: Asking,
    id: string,
    patch: PreparedPatch,
    audit: AuditContext,
    options: { readonly ifVersion?: number | undefined } = {},
  ): Promise<MemoryEntry> {
    return this.database.writing(asking, (tx, access) =>
      updateOne(tx, access, id, patch, audit, options.ifVersion),
    );
  }

  confirm(asking: Asking, id: string, audit: AuditContext): Promise<MemoryEntry> {
    return this.database.writing(asking, (tx, access) => setConfirmed(tx, access, id, true, audit));
  }

  unconfirm(asking: Asking, id: string, audit: AuditContext): Promise<MemoryEntry> {
    return this.database.writing(asking, (tx, access) => setConfirmed(tx, access, id, false, audit));
  }

  supersede(
    asking: Asking,
    oldId: string,
    successor: Deferred<Successor>,
    audit: AuditContext,
  ): Promise<{ superseded: MemoryEntry; successor: MemoryEntry }> {
    return this.database.writing(asking, (tx, access) =>
      supersedeOne(tx, access, oldId, settled(successor), audit),
    );
  }

  forget(asking: Asking, id: string, audit: AuditContext): Promise<MemoryEntry> {
    return this.database.writing(asking, (tx, access) => forgetOne(tx, access, id, audit));
  }

  restore(asking: Asking, id: string, audit: AuditContext): Promise<MemoryEntry> {
    return this.database.writing(asking, (tx, access) => restoreOne(tx, access, id, audit));
  }

  purge(asking: Asking, id: string, audit: AuditContext): Promise<void> {
    return this.database.writing(asking, (tx, access) => purgeOne(tx, access, id, audit));
  }

  history(asking: Asking, id: string): Promise<HistoryChain> {
    return this.database.reading(asking, (tx, access) => readHistory(tx, access, id));
  }

  list(asking: Asking, query: Deferred<ListQuery>): Promise<ListPage> {
    return this.database.reading(asking, (tx, access) => listPage(tx, access, settled(query)));
  }

  feedback(asking: Asking, feedback: Feedback, audit: AuditContext): Promise<FeedbackResult> {
    return this.database.as('palimpsest_feedback', asking, (tx, access) =>
      recordFeedback(tx, access, feedback, audit),
    );
  }

  listRules(access: Access): Promise<NamespaceRule[]> {
    return this.database.reading(access, (tx) => readRules(tx, access.principal.tenantId));
  }

  putRule(access: Access, rule: NamespaceRuleDraft, audit: AuditContext): Promise<NamespaceRule> {
    return this.database.writing(access, (tx) => writeRule(tx, access, rule, audit));
  }

  deleteRule(access: Access, pattern: string, audit: AuditContext): Promise<boolean> {
    return this.database.writing(access, (tx) => removeRule(tx, access, pattern, audit));
  }

  registerModel(tenantId: string, model: { modelId: string; dimensions: number }): Promise<void> {
    const access = systemAccess(tenantId);
    return this.database.writing(access, async (tx) => {
      await tx.query(insertTenant(tenantId, this.clock()));
      await tx.query(insertModel(tenantId, model.modelId, model.dimensions, this.clock()));
      await requireDimensions(tx, tenantId, model);
    });
  }

  health(): Promise<StoreHealth> {
    return this.database.reading(systemAccess('health'), async (tx) => {
      const [row] = await tx.query<HealthRow>(selectHealth());
      if (row === undefined) throw new Error('The database did not report its state.');
      return {
        backend: this.database.backend,
        serverVersion: row.server_version,
        vectorVersion: row.vector_version,
        schemaVersion: row.schema_version,
        role: row.role,
        roleBypassesRls: row.role_bypasses_rls,
        clockOffsetMs: row.database_time.getTime() - this.clock(),
      };
    });
  }

  async sizes(): Promise<StoreSizes> {
    const rows = await this.database.reading(systemAccess('sizes'), (tx) => tx.query<SizeRow>(selectSizes()));
    return {
      tables: rows.flatMap(({ index_name, table_name: table, estimated_rows, bytes }) =>
        // -1: nobody has counted yet.
        index_name === null
          ? [{ table, estimatedRows: estimated_rows < 0 ? null : estimated_rows, bytes }]
          : [],
      ),
      indexes: rows.flatMap(({ index_name: index, table_name: table, bytes }) =>
        index === null ? [] : [{ table, index, bytes }],
      ),
    };
  }

  connections(): ConnectionCounts {
    return this.database.connections();
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

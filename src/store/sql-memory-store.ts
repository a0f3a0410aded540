import { PalimpsestError } from '../core/errors.ts';
import type {
  AuditContext,
  Clock,
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
  Successor,
} from '../core/ports.ts';
import type { Access, MemoryEntry, NamespaceRule, WriteResult } from '../core/types.ts';
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
import { insertModel, selectModelDimensions } from './queries/embeddings.ts';
import { type HealthRow, selectHealth } from './queries/health.ts';
import { insertTenant } from './queries/namespaces.ts';
import { type RequestDatabase, systemAccess } from './request-database.ts';

/** The store on any Postgres. Each method is one transaction under the asker's row-level security. */
export class SqlMemoryStore implements Store {
  private readonly database: RequestDatabase;
  private readonly clock: Clock;

  constructor(database: RequestDatabase, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  read<T>(access: Access, work: (view: ReadView) => Promise<T>): Promise<T> {
    return this.database.reading(access, (tx) => work(new SqlReadView(tx, access)));
  }

  write(access: Access, drafts: readonly PreparedDraft[], audit: AuditContext): Promise<WriteResult[]> {
    if (drafts.length === 0) return Promise.resolve([]);
    return this.database.writing(access, async (tx) => (await writeBatch(tx, access, drafts, audit)).results);
  }

  update(
    access: Access,
    id: string,
    patch: PreparedPatch,
    audit: AuditContext,
    options: { readonly ifVersion?: number | undefined } = {},
  ): Promise<MemoryEntry> {
    return this.database.writing(access, (tx) => updateOne(tx, access, id, patch, audit, options.ifVersion));
  }

  confirm(access: Access, id: string, audit: AuditContext): Promise<MemoryEntry> {
    return this.database.writing(access, (tx) => setConfirmed(tx, access, id, true, audit));
  }

  unconfirm(access: Access, id: string, audit: AuditContext): Promise<MemoryEntry> {
    return this.database.writing(access, (tx) => setConfirmed(tx, access, id, false, audit));
  }

  supersede(
    access: Access,
    oldId: string,
    successor: Successor,
    audit: AuditContext,
  ): Promise<{ superseded: MemoryEntry; successor: MemoryEntry }> {
    return this.database.writing(access, (tx) => supersedeOne(tx, access, oldId, successor, audit));
  }

  forget(access: Access, id: string, audit: AuditContext): Promise<MemoryEntry> {
    return this.database.writing(access, (tx) => forgetOne(tx, access, id, audit));
  }

  restore(access: Access, id: string, audit: AuditContext): Promise<MemoryEntry> {
    return this.database.writing(access, (tx) => restoreOne(tx, access, id, audit));
  }

  purge(access: Access, id: string, audit: AuditContext): Promise<void> {
    return this.database.writing(access, (tx) => purgeOne(tx, access, id, audit));
  }

  history(access: Access, id: string): Promise<HistoryChain> {
    return this.database.reading(access, (tx) => readHistory(tx, access, id));
  }

  list(access: Access, query: ListQuery): Promise<ListPage> {
    return this.database.reading(access, (tx) => listPage(tx, access, query));
  }

  feedback(access: Access, feedback: Feedback, audit: AuditContext): Promise<FeedbackResult> {
    return this.database.as('palimpsest_feedback', access, (tx) =>
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
      const [known] = await tx.query<{ dimensions: number }>(selectModelDimensions(tenantId, model.modelId));
      if (known !== undefined && known.dimensions !== model.dimensions) {
        throw new PalimpsestError(
          'conflict',
          `The model ${model.modelId} is stored with ${known.dimensions} dimensions; its provider now gives ${model.dimensions}.`,
          {
            details: [
              {
                path: 'dimensions',
                got: model.dimensions,
                allowed: known.dimensions,
                hint: 'Vectors of one model must be comparable: give the changed model a name of its own.',
              },
            ],
          },
        );
      }
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

  close(): Promise<void> {
    return this.database.close();
  }
}

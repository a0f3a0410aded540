import { excerpt, PalimpsestError } from '../core/errors.ts';
import { parsePattern } from '../core/namespace.ts';
import type {
  Feedback,
  FeedbackResult,
  HistoryChain,
  ListPage,
  NamespaceRuleDraft,
  StoreHealth,
} from '../core/ports.ts';
import type {
  MemoryDraft,
  MemoryEntry,
  MemoryPatch,
  NamespaceRule,
  RankingProfile,
  WriteResult,
} from '../core/types.ts';
import { knownId } from './entry-id.ts';
import { type ExportRequest, exportEntries } from './export-entries.ts';
import { getEntry } from './get-entry.ts';
import { type ImportProgress, importEntries } from './import-entries.ts';
import { type ListRequest, listEntries } from './list-entries.ts';
import { createModelRegistration } from './model-registration.ts';
import { type RecallRequest, type RecallResult, recall } from './recall.ts';
import { remember, rememberMany } from './remember.ts';
import type { RequestContext } from './request-context.ts';
import { auditOf, type ServiceParts, type ServiceState } from './service-parts.ts';
import { type SupersedeResult, type SupersedeWith, supersedeEntry } from './supersede-entry.ts';
import { type UpdateOptions, updateEntry } from './update-entry.ts';

/**
 * All use cases. A face parses what it was sent, calls one of these, and shows the answer.
 *
 * Refusals are `PalimpsestError`s: `not_found` alike for unknown ids and for those the asker may not read,
 * `forbidden` for a write outside what the asker may write, `embedding_failed` and `store_unavailable` where
 * something this product depends on fails.
 */
export interface MemoryService {
  remember(context: RequestContext, draft: MemoryDraft): Promise<WriteResult>;
  rememberMany(context: RequestContext, drafts: readonly MemoryDraft[]): Promise<WriteResult[]>;
  recall(context: RequestContext, request: RecallRequest): Promise<RecallResult>;
  get(context: RequestContext, id: string): Promise<MemoryEntry>;
  list(context: RequestContext, request: ListRequest): Promise<ListPage>;
  update(
    context: RequestContext,
    id: string,
    patch: MemoryPatch,
    options?: UpdateOptions,
  ): Promise<MemoryEntry>;
  confirm(context: RequestContext, id: string): Promise<MemoryEntry>;
  unconfirm(context: RequestContext, id: string): Promise<MemoryEntry>;
  supersede(context: RequestContext, oldId: string, newer: SupersedeWith): Promise<SupersedeResult>;
  /** The whole chain of supersession an entry stands in, oldest first. */
  history(context: RequestContext, id: string): Promise<HistoryChain>;
  /** Soft delete: no search finds it, `restore` brings it back. */
  forget(context: RequestContext, id: string): Promise<MemoryEntry>;
  restore(context: RequestContext, id: string): Promise<MemoryEntry>;
  /** Removes the entry and its embeddings from disk. */
  purge(context: RequestContext, id: string): Promise<void>;
  feedback(context: RequestContext, feedback: Feedback): Promise<FeedbackResult>;
  listRules(context: RequestContext): Promise<NamespaceRule[]>;
  putRule(context: RequestContext, rule: NamespaceRuleDraft): Promise<NamespaceRule>;
  deleteRule(context: RequestContext, pattern: string): Promise<void>;
  exportEntries(context: RequestContext, request: ExportRequest): AsyncGenerator<MemoryEntry>;
  importEntries(
    context: RequestContext,
    drafts: AsyncIterable<MemoryDraft> | Iterable<MemoryDraft>,
  ): AsyncGenerator<ImportProgress>;
  health(): Promise<StoreHealth>;
  /** The ranking profiles a request may name. */
  readonly profiles: ReadonlyMap<string, RankingProfile>;
  /** Milliseconds since the epoch, by the clock the service works with. */
  now(): number;
}

export function createMemoryService(parts: ServiceParts): MemoryService {
  const { store } = parts;
  const state: ServiceState = { ...parts, models: createModelRegistration(store, parts.embedding.models) };
  return {
    remember: (context, draft) => remember(state, context, draft),
    rememberMany: (context, drafts) => rememberMany(state, context, drafts),
    recall: (context, request) => recall(state, context, request),
    get: (context, id) => getEntry(state, context, id),
    list: (context, request) => listEntries(state, context, request),
    update: (context, id, patch, options) => updateEntry(state, context, id, patch, options),
    confirm: async (context, id) =>
      store.confirm(context.access, knownId('memory', id), auditOf(parts, context)),
    unconfirm: async (context, id) =>
      store.unconfirm(context.access, knownId('memory', id), auditOf(parts, context)),
    supersede: (context, oldId, newer) => supersedeEntry(state, context, oldId, newer),
    history: async (context, id) => store.history(context.access, knownId('memory', id)),
    forget: async (context, id) =>
      store.forget(context.access, knownId('memory', id), auditOf(parts, context)),
    restore: async (context, id) =>
      store.restore(context.access, knownId('memory', id), auditOf(parts, context)),
    purge: async (context, id) => store.purge(context.access, knownId('memory', id), auditOf(parts, context)),
    feedback: async (context, { memoryId, traceId, signal }) =>
      store.feedback(
        context.access,
        { memoryId: knownId('memory', memoryId), traceId: knownId('trace', traceId), signal },
        auditOf(parts, context),
      ),
    listRules: (context) => store.listRules(context.access),
    putRule: (context, rule) => store.putRule(context.access, rule, auditOf(parts, context)),
    deleteRule: async (context, pattern) => {
      const known = parsePattern(pattern);
      const wasDeleted = await store.deleteRule(context.access, known, auditOf(parts, context));
      if (wasDeleted) return;
      throw new PalimpsestError('not_found', `There is no rule with the pattern ${excerpt(pattern)}.`, {
        details: [{ path: 'pattern', got: excerpt(pattern) }],
      });
    },
    exportEntries: (context, request) => exportEntries(state, context, request),
    importEntries: (context, drafts) => importEntries(state, context, drafts),
    health: () => store.health(),
    profiles: parts.profiles,
    now: () => parts.clock(),
  };
}

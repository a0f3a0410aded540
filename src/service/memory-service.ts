import type { ChatMessage } from '../core/context/messages.ts';
import { excerpt, PalimpsestError } from '../core/errors.ts';
import { parsePattern } from '../core/namespace.ts';
import type { Asking } from '../core/policy.ts';
import type {
  AuditContext,
  Feedback,
  FeedbackResult,
  HistoryChain,
  ListPage,
  NamespaceRuleDraft,
  StoreHealth,
  WriteOptions,
} from '../core/ports.ts';
import type {
  MemoryEntry,
  MemoryPatch,
  NamespaceRule,
  RankingProfile,
  UnplacedDraft,
  WriteResult,
} from '../core/types.ts';
import { entryHistory } from './entry-history.ts';
import { knownId } from './entry-id.ts';
import { type ExportRequest, exportEntries } from './export-entries.ts';
import { giveFeedback } from './feedback.ts';
import { type ContextRequest, type ContextResult, fillContext } from './fill-context.ts';
import { getEntry } from './get-entry.ts';
import { type GuardedCall, guarded, guardedStream } from './guard.ts';
import { type ImportProgress, importEntries } from './import-entries.ts';
import { type ListRequest, listEntries } from './list-entries.ts';
import { type ObservedRun, observeRun, type RunResult } from './observe-run.ts';
import { type RecallRequest, type RecallResult, recall } from './recall.ts';
import { remember, rememberMany } from './remember.ts';
import type { RequestContext } from './request-context.ts';
import { type Intent, requestPolicy } from './request-policy.ts';
import { auditOf, type ServiceState } from './service-parts.ts';
import { type SupersedeResult, type SupersedeWith, supersedeEntry } from './supersede-entry.ts';
import { type UpdateOptions, updateEntry } from './update-entry.ts';

/**
 * All use cases of memories. A face parses what it was sent, calls one of these, and shows the answer. Each checks
 * what the asker's credential may be used for and what the policy of the agent allows, and leaves its audit.
 *
 * Refusals are `PalimpsestError`s: `not_found` alike for unknown ids and for those the asker may not read,
 * `forbidden` for a write outside what the asker may write, `embedding_failed` and `store_unavailable` where
 * something this product depends on fails.
 */
export interface MemoryService {
  remember(context: RequestContext, draft: UnplacedDraft, options?: WriteOptions): Promise<WriteResult>;
  rememberMany(
    context: RequestContext,
    drafts: readonly UnplacedDraft[],
    options?: WriteOptions,
  ): Promise<WriteResult[]>;
  recall(context: RequestContext, request: RecallRequest): Promise<RecallResult>;
  /** A recall as the memory block of a prompt, and where the conversation is given, in its place there. */
  context<Message extends ChatMessage = ChatMessage>(
    context: RequestContext,
    request: ContextRequest<Message>,
  ): Promise<ContextResult<Message>>;
  /** Stores what a run was asked and answered, where a policy allows it. Once per run id. */
  observeRun(context: RequestContext, run: ObservedRun): Promise<RunResult>;
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
    drafts: AsyncIterable<UnplacedDraft> | Iterable<UnplacedDraft>,
  ): AsyncGenerator<ImportProgress>;
  health(): Promise<StoreHealth>;
  /** The built-in ranking profiles, which a request may always name. */
  readonly profiles: ReadonlyMap<string, RankingProfile>;
  /** Milliseconds since the epoch, by the clock the service works with. */
  now(): number;
}

export function createMemoryService(state: ServiceState): MemoryService {
  const { store } = state;
  const call = <T>(context: RequestContext, about: GuardedCall, work: () => Promise<T>) =>
    guarded(state, context, about, work);
  /** A change of one entry, by its id. */
  const change = <T>(
    context: RequestContext,
    { operation, intent, id }: { operation: string; intent: Intent; id: string },
    work: (asking: Asking, known: string, audit: AuditContext) => Promise<T>,
  ) =>
    call(context, { operation, scope: 'write', memoryIds: [id] }, async () =>
      work(requestPolicy(context, intent).asking, knownId('memory', id), auditOf(state, context)),
    );
  return {
    remember: (context, draft, options) =>
      call(context, { operation: 'remember', scope: 'write' }, () =>
        remember(state, context, draft, options),
      ),
    rememberMany: (context, drafts, options) =>
      call(context, { operation: 'remember', scope: 'write' }, () =>
        rememberMany(state, context, drafts, options),
      ),
    recall: (context, request) =>
      call(context, { operation: 'recall', scope: 'read' }, () => recall(state, context, request)),
    context: (context, request) =>
      call(context, { operation: 'context', scope: 'read' }, () => fillContext(state, context, request)),
    observeRun: (context, run) =>
      call(context, { operation: 'observe_run', scope: 'write' }, () => observeRun(state, context, run)),
    get: (context, id) =>
      call(context, { operation: 'get', scope: 'read', memoryIds: [id] }, () => getEntry(state, context, id)),
    list: (context, request) =>
      call(context, { operation: 'list', scope: 'read' }, () => listEntries(state, context, request)),
    update: (context, id, patch, options) =>
      call(context, { operation: 'update', scope: 'write', memoryIds: [id] }, () =>
        updateEntry(state, context, id, patch, options),
      ),
    confirm: (context, id) =>
      change(context, { operation: 'confirm', intent: 'write', id }, (asking, known, audit) =>
        store.confirm(asking, known, audit),
      ),
    unconfirm: (context, id) =>
      change(context, { operation: 'unconfirm', intent: 'write', id }, (asking, known, audit) =>
        store.unconfirm(asking, known, audit),
      ),
    supersede: (context, oldId, newer) =>
      call(
        context,
        {
          operation: 'supersede',
          scope: 'write',
          memoryIds: 'id' in newer ? [oldId, newer.id] : [oldId],
        },
        () => supersedeEntry(state, context, oldId, newer),
      ),
    history: (context, id) =>
      call(context, { operation: 'history', scope: 'read', memoryIds: [id] }, () =>
        entryHistory(state, context, id),
      ),
    forget: (context, id) =>
      change(context, { operation: 'forget', intent: 'delete', id }, (asking, known, audit) =>
        store.forget(asking, known, audit),
      ),
    restore: (context, id) =>
      change(context, { operation: 'restore', intent: 'write', id }, (asking, known, audit) =>
        store.restore(asking, known, audit),
      ),
    purge: (context, id) =>
      change(context, { operation: 'purge', intent: 'delete', id }, (asking, known, audit) =>
        store.purge(asking, known, audit),
      ),
    feedback: (context, feedback) =>
      call(
        context,
        {
          operation: 'feedback',
          scope: 'feedback',
          memoryIds: [feedback.memoryId],
          traceId: feedback.traceId,
        },
        () => giveFeedback(state, context, feedback),
      ),
    listRules: (context) =>
      call(context, { operation: 'list_rules', scope: 'read' }, () => store.listRules(context.access)),
    putRule: (context, rule) =>
      call(context, { operation: 'put_rule', scope: 'admin' }, () =>
        store.putRule(context.access, rule, auditOf(state, context)),
      ),
    deleteRule: (context, pattern) =>
      call(context, { operation: 'delete_rule', scope: 'admin' }, () => deleteRule(state, context, pattern)),
    exportEntries: (context, request) =>
      guardedStream(state, context, { operation: 'export', scope: 'read' }, () =>
        exportEntries(state, context, request),
      ),
    importEntries: (context, drafts) =>
      guardedStream(state, context, { operation: 'import', scope: 'write' }, () =>
        importEntries(state, context, drafts),
      ),
    health: () => store.health(),
    profiles: state.profiles,
    now: () => state.clock(),
  };
}

async function deleteRule(state: ServiceState, context: RequestContext, pattern: string): Promise<void> {
  const known = parsePattern(pattern);
  const wasDeleted = await state.store.deleteRule(context.access, known, auditOf(state, context));
  if (wasDeleted) return;
  throw new PalimpsestError('not_found', `There is no rule with the pattern ${excerpt(pattern)}.`, {
    details: [{ path: 'pattern', got: excerpt(pattern) }],
  });
}

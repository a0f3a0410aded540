import { inCodeNames } from '../contract/code-names.ts';
import { fullContextRequestSchema } from '../contract/context-request.ts';
import { feedbackSchema } from '../contract/feedback.ts';
import type {
  ContextInput,
  ExportInput,
  FeedbackInput,
  ListInput,
  NamespacesInput,
  RecallInput,
  RememberInput,
  RememberOptionsInput,
  RuleInput,
  RunInput,
  SubjectInput,
  SuccessorInput,
  UpdateInput,
  UpdateOptionsInput,
} from '../contract/inputs.ts';
import { encodeListCursor } from '../contract/list-cursor.ts';
import { exportRequestSchema, listRequestSchema } from '../contract/list-request.ts';
import { unplacedBatchSchema, unplacedDraftSchema } from '../contract/memory-draft.ts';
import { memoryPatchSchema } from '../contract/memory-patch.ts';
import { type NamespacePage, namespacePage, namespaceRequestSchema } from '../contract/namespace-report.ts';
import { ruleDraftSchema } from '../contract/namespace-rule.ts';
import { parseContract } from '../contract/parse-contract.ts';
import { tracedRecallRequestSchema } from '../contract/recall-request.ts';
import { rememberOptionsSchema } from '../contract/remember-options.ts';
import { requestSubjectSchema } from '../contract/request-subject.ts';
import { runReportSchema } from '../contract/run-report.ts';
import { existingEntrySchema } from '../contract/supersede.ts';
import { updateOptionsSchema } from '../contract/update-options.ts';
import { requestsToWire, requestToWire } from '../contract/wire-form.ts';
import type { ChatMessage } from '../core/context/messages.ts';
import type { FeedbackResult, HistoryChain, WriteOptions } from '../core/ports.ts';
import type { RecallTrace } from '../core/ranking/trace.ts';
import type { MemoryEntry, MemoryHit, NamespaceRule, UnplacedDraft, WriteResult } from '../core/types.ts';
import type { ContextResult } from '../service/fill-context.ts';
import type { GovernanceService } from '../service/governance-service.ts';
import type { ImportProgress } from '../service/import-entries.ts';
import type { MemoryService } from '../service/memory-service.ts';
import type { RunResult } from '../service/observe-run.ts';
import type { RequestContext } from '../service/request-context.ts';
import type { SupersedeResult, SupersedeWith } from '../service/supersede-entry.ts';

export interface RecallOutput {
  /** Best first, at most `topK`. */
  readonly hits: readonly MemoryHit[];
  /** Feedback about a hit names it. */
  readonly traceId: string;
  /** Name of the profile that ranked. */
  readonly profile: string;
  /** Whether the hits are proven to be the exact best of the whole scope. */
  readonly exact: boolean;
  /** Whether anything but the usual embedding model with all its vectors measured similarity; the trace says what. */
  readonly degraded: boolean;
  /** How the result came about: every number, and what was cut and why. */
  readonly trace: RecallTrace;
}

export interface ContextOutput<Message extends ChatMessage = ChatMessage> {
  /** The text for the end of the last user message. Empty where nothing was found or fits. */
  readonly block: string;
  /** The messages with the block in its place; null where none were given. */
  readonly messages: readonly Message[] | null;
  /** Tokens of `block`, at most `tokenBudget`. */
  readonly tokenCount: number;
  readonly tokenBudget: number;
  /** Name of the tokenizer that counted. */
  readonly tokenizer: string;
  /** Ids of the entries in the block, in the order they stand there. */
  readonly included: readonly string[];
  /** What was found and did not fit, in rank order, with what each would take by itself. */
  readonly leftOut: ContextResult['leftOut'];
  /** Whether anything was left out. */
  readonly truncated: boolean;
  /** Variables that instructions name and the request does not set; they stand in the block as written. */
  readonly unsetVariables: ContextResult['unsetVariables'];
  /** Feedback about an entry names it. */
  readonly traceId: string;
  /** Name of the profile that ranked. */
  readonly profile: string;
  /** Whether the entries are proven to be the exact best of the whole scope. */
  readonly exact: boolean;
  /** How the result came about: every number, and what was cut and why. */
  readonly trace: RecallTrace;
}

export interface ListOutput {
  /** Newest first by `createdAt`. */
  readonly entries: readonly MemoryEntry[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** For whom a handle acts. */
export type HandleContext = Pick<RequestContext, 'access' | 'subject' | 'origin'>;

/** What carries out the methods of a handle. */
export interface MemoryServices {
  readonly service: MemoryService;
  readonly governance: GovernanceService;
}

/** The rules of `app.vector_namespace_rules`. */
export interface RuleBook {
  list(): Promise<NamespaceRule[]>;
  /** Creates the rule of this pattern, or replaces it. */
  put(rule: RuleInput): Promise<NamespaceRule>;
  /** @throws PalimpsestError `not_found` */
  delete(pattern: string): Promise<void>;
}

/**
 * The memory as one user may use it. Every method checks its input by the same contract as the HTTP API,
 * changes none of the objects it is given, and rejects with a `PalimpsestError`: `invalid_input` for what it
 * does not accept, `not_found` alike for unknown ids and for those the user may not read, `forbidden` for a
 * write outside what the user may write.
 */
export class UserMemory {
  /** Rules that give bonuses and instructions to namespaces. */
  readonly rules: RuleBook;
  readonly #services: MemoryServices;
  readonly #service: MemoryService;
  readonly #context: RequestContext;

  constructor(services: MemoryServices, context: HandleContext) {
    const { service } = services;
    this.#services = services;
    this.#service = service;
    this.#context = context;
    this.rules = {
      list: () => service.listRules(this.#context),
      put: async (rule) => {
        const wire = requestToWire(ruleDraftSchema, rule, 'rules.put');
        return inCodeNames(() => service.putRule(this.#context, parseContract(ruleDraftSchema, wire)));
      },
      delete: (pattern) => service.deleteRule(this.#context, pattern),
    };
  }

  /**
   * The same user with an agent or a task at work: its policy holds, and what is stored of it says whom it was for.
   */
  onBehalfOf(subject: SubjectInput): UserMemory {
    const wire = requestToWire(requestSubjectSchema, subject, 'onBehalfOf');
    return new UserMemory(this.#services, {
      ...this.#context,
      subject: parseContract(requestSubjectSchema, wire),
    });
  }

  /**
   * The same for what an agent's tools ask: the agent's policy says whether they may write and delete, and the audit
   * says that a tool asked.
   */
  forTools(): UserMemory {
    return new UserMemory(this.#services, { ...this.#context, origin: 'tool_call' });
  }

  /** Stores one entry. The same content in the same namespace refreshes the live entry that has it. */
  async remember(input: RememberInput, options: RememberOptionsInput = {}): Promise<WriteResult> {
    const draft = await toDraft(input);
    return this.#service.remember(this.#context, draft, await toRememberOptions(options));
  }

  /** Stores 1..500 entries together or none of them; a refusal names the item. */
  async rememberMany(
    inputs: readonly RememberInput[],
    options: RememberOptionsInput = {},
  ): Promise<WriteResult[]> {
    const memories = requestsToWire(unplacedDraftSchema, inputs, 'memories');
    const conditions = await toRememberOptions(options);
    return inCodeNames(() => {
      const batch = parseContract(unplacedBatchSchema, { memories }, { itemsOf: 'memories' });
      return this.#service.rememberMany(this.#context, batch.memories, conditions);
    });
  }

  /** Finds what is worth remembering for a query. Reading moves no counter. */
  async recall(input: RecallInput = {}): Promise<RecallOutput> {
    const wire = requestToWire(tracedRecallRequestSchema, input, 'recall');
    const { hits, trace } = await inCodeNames(() =>
      this.#service.recall(this.#context, parseContract(tracedRecallRequestSchema, wire)),
    );
    return {
      hits,
      traceId: trace.id,
      profile: trace.profile.name,
      exact: trace.exact,
      degraded: trace.degraded,
      trace,
    };
  }

  /**
   * Finds what is worth remembering and makes the memory block of a prompt. With the conversation it also gives the
   * messages with the block at the end of the last user message; the given ones stay as they are.
   */
  async context<Message extends ChatMessage = ChatMessage>(
    input: ContextInput<Message>,
  ): Promise<ContextOutput<Message>> {
    const wire = requestToWire(fullContextRequestSchema, input, 'context');
    const filled = await inCodeNames(() => {
      const request = parseContract(fullContextRequestSchema, wire);
      // The messages are the given ones, looked at and not copied.
      return this.#service.context(this.#context, { ...request, messages: input.messages });
    });
    const { text, trace, warnings: _, ...same } = filled;
    return {
      ...same,
      block: text,
      traceId: trace.id,
      profile: trace.profile.name,
      exact: trace.exact,
      trace,
    };
  }

  /**
   * Stores what a run was asked and what it answered, once per run id, where the policy of the agent or task has
   * `allowWrite`. Where nothing may be stored it says so and does not fail.
   */
  async observeRun(input: RunInput): Promise<RunResult> {
    const wire = requestToWire(runReportSchema, input, 'observeRun');
    return inCodeNames(() => this.#service.observeRun(this.#context, parseContract(runReportSchema, wire)));
  }

  /** Reads an entry whatever has become of it: an expired, superseded or deleted one says so itself. */
  get(id: string): Promise<MemoryEntry> {
    return this.#service.get(this.#context, id);
  }

  /** One page of entries. Ties, inserts and deletes between two pages neither repeat nor skip one. */
  async list(input: ListInput = {}): Promise<ListOutput> {
    const wire = requestToWire(listRequestSchema, input, 'list');
    const { entries, next } = await inCodeNames(() =>
      this.#service.list(this.#context, parseContract(listRequestSchema, wire)),
    );
    return { entries, nextCursor: next === null ? null : encodeListCursor(next) };
  }

  /** One page of the namespaces that may be read, by path, with what they hold. */
  async namespaces(input: NamespacesInput = {}): Promise<NamespacePage> {
    const wire = requestToWire(namespaceRequestSchema, input, 'namespaces');
    return inCodeNames(async () => {
      const request = parseContract(namespaceRequestSchema, wire);
      return namespacePage(
        await this.#services.governance.reportNamespaces(this.#context, request),
        request.limit,
      );
    });
  }

  /** Changes an entry. New content is embedded again and clears a confirmation; nothing else does. */
  async update(id: string, input: UpdateInput, options: UpdateOptionsInput = {}): Promise<MemoryEntry> {
    const wire = requestToWire(memoryPatchSchema, input, 'update');
    const wireOptions = requestToWire(updateOptionsSchema, options, 'update');
    return inCodeNames(() => {
      const patch = parseContract(memoryPatchSchema, wire);
      return this.#service.update(this.#context, id, patch, parseContract(updateOptionsSchema, wireOptions));
    });
  }

  confirm(id: string): Promise<MemoryEntry> {
    return this.#service.confirm(this.#context, id);
  }

  unconfirm(id: string): Promise<MemoryEntry> {
    return this.#service.unconfirm(this.#context, id);
  }

  /** Puts a newer entry in the place of an older one; the older leaves the search, not the store. */
  async supersede(oldId: string, successor: SuccessorInput): Promise<SupersedeResult> {
    return this.#service.supersede(this.#context, oldId, await toSuccessor(successor));
  }

  /** The whole chain of supersession an entry stands in, oldest first. */
  history(id: string): Promise<HistoryChain> {
    return this.#service.history(this.#context, id);
  }

  /** Soft delete: no recall finds it, `restore` brings it back. */
  forget(id: string): Promise<MemoryEntry> {
    return this.#service.forget(this.#context, id);
  }

  restore(id: string): Promise<MemoryEntry> {
    return this.#service.restore(this.#context, id);
  }

  /** Removes the entry and its embeddings from disk, for good. */
  purge(id: string): Promise<void> {
    return this.#service.purge(this.#context, id);
  }

  /** An explicit signal about a hit: the only thing that moves its counters. Counts once. */
  async feedback(input: FeedbackInput): Promise<FeedbackResult> {
    const wire = requestToWire(feedbackSchema, input, 'feedback');
    return inCodeNames(() => this.#service.feedback(this.#context, parseContract(feedbackSchema, wire)));
  }

  /** All entries of a scope, newest first, read a page at a time. */
  async *exportEntries(input: ExportInput = {}): AsyncGenerator<MemoryEntry> {
    const wire = requestToWire(exportRequestSchema, input, 'exportEntries');
    const request = await inCodeNames(() => parseContract(exportRequestSchema, wire));
    yield* this.#service.exportEntries(this.#context, request);
  }

  /**
   * Stores a stream of entries in batches of up to 500, each all or nothing. What was stored before a failure
   * stays; storing it again refreshes it.
   *
   * @param onProgress - Called after each batch.
   */
  async importEntries(
    inputs: AsyncIterable<RememberInput> | Iterable<RememberInput>,
    onProgress?: (progress: ImportProgress) => void,
  ): Promise<ImportProgress> {
    let last: ImportProgress = { stored: 0, created: 0, refreshed: 0 };
    for await (const progress of this.#service.importEntries(this.#context, toDrafts(inputs))) {
      last = progress;
      onProgress?.(progress);
    }
    return last;
  }
}

async function toDraft(input: RememberInput): Promise<UnplacedDraft> {
  const wire = requestToWire(unplacedDraftSchema, input, 'remember');
  return inCodeNames(() => parseContract(unplacedDraftSchema, wire));
}

async function toRememberOptions(options: RememberOptionsInput): Promise<WriteOptions> {
  const wire = requestToWire(rememberOptionsSchema, options, 'remember');
  return inCodeNames(() => parseContract(rememberOptionsSchema, wire));
}

async function* toDrafts(
  inputs: AsyncIterable<RememberInput> | Iterable<RememberInput>,
): AsyncGenerator<UnplacedDraft> {
  for await (const input of inputs) yield toDraft(input);
}

async function toSuccessor(successor: SuccessorInput): Promise<SupersedeWith> {
  const isExisting = typeof successor === 'object' && successor !== null && 'id' in successor;
  if (!isExisting) return { draft: await toDraft(successor) };
  // Refuses whatever stands beside the id, which would otherwise be lost.
  requestToWire(existingEntrySchema, successor, 'supersede');
  return { id: successor.id };
}

import type { ChatMessage } from '../core/context/messages.ts';
import type { FeedbackSignal, Lifecycle } from '../core/ports.ts';
import type { JsonValue, MemorySource, MemoryStatus } from '../core/types.ts';

/** What the methods of the library and of the client take. Every object may be frozen: none is changed or kept. */

/** A point in time: a `Date`, or ISO 8601 with `Z` or an offset. A date alone is midnight UTC. */
export type InstantInput = Date | string;

/** A JSON object. `undefined`, dates and instances of classes are refused, not converted. */
export type JsonObjectInput = Readonly<Record<string, unknown>>;

export interface RememberInput {
  /** Dotted path of 1..16 segments. Default: where the policy of the agent or task writes. */
  readonly namespace?: string | undefined;
  /** Not blank, at most 64 KiB of UTF-8. */
  readonly content: string;
  /** Free word of 1..64 characters, default `note`. */
  readonly type?: string | undefined;
  readonly metadata?: JsonObjectInput | undefined;
  /** At most 64 words of 1..128 characters. */
  readonly tags?: readonly string[] | undefined;
  readonly source?: MemorySource | null | undefined;
  /** In [0, 1], default 0.5, kept exactly. */
  readonly importance?: number | undefined;
  /** When the fact was true or seen. */
  readonly observedAt?: InstantInput | null | undefined;
  /** When it stops being found. */
  readonly expiresAt?: InstantInput | null | undefined;
}

export interface RememberOptionsInput {
  /**
   * Refuses with `precondition_failed` where a live entry of the namespace holds the content already. Default false:
   * that entry is refreshed.
   */
  readonly ifNew?: boolean | undefined;
}

/** Absent leaves a field alone, `null` clears it. `metadata` and `tags` replace what was there. */
export type UpdateInput = Partial<Omit<RememberInput, 'namespace'>>;

export interface UpdateOptionsInput {
  /** Refuses with `precondition_failed` unless the entry still has this version. */
  readonly ifVersion?: number | undefined;
}

export interface FilterInput {
  /** Any of these types. */
  readonly type?: string | readonly string[] | undefined;
  /** A list: all of them. `{any, all}`: at least one of `any`, and all of `all`. */
  readonly tags?:
    | readonly string[]
    | { readonly any?: readonly string[] | undefined; readonly all?: readonly string[] | undefined }
    | undefined;
  readonly status?: MemoryStatus | readonly MemoryStatus[] | undefined;
  /** `from` inclusive, `until` exclusive. */
  readonly observedAt?:
    | { readonly from?: InstantInput | undefined; readonly until?: InstantInput | undefined }
    | undefined;
  /** Conditions such as `{project: 'atlas', year: {gte: 2024}}`, see `parseMetadataFilter`. */
  readonly metadata?: Readonly<Record<string, JsonValue>> | undefined;
}

export interface RecallInput {
  /** What to look for. Leave it out to browse. */
  readonly query?: string | undefined;
  /** Paths (that namespace alone) or patterns (`p.*` is all below p). Default: everything readable. */
  readonly namespaces?: readonly string[] | undefined;
  readonly filter?: FilterInput | undefined;
  /** Name of a ranking profile, default `boosted`. */
  readonly profile?: string | undefined;
  /** 1..200, default the profile's (5). */
  readonly topK?: number | undefined;
  /** At least 0, default the profile's (`boosted` 0.4, `weighted` 0). 0 lets everything pass. */
  readonly minScore?: number | undefined;
  /** In [0, 1], default the profile's (`boosted` 0.7, `weighted` 0). 0 disables. */
  readonly relativeCutoff?: number | undefined;
}

export interface ContextInput<Message extends ChatMessage = ChatMessage> extends RecallInput {
  /** What to look for. Default: the text of the last user message. */
  readonly query?: string | undefined;
  /**
   * The conversation as it was before a block was placed in it: messages of OpenAI, Anthropic or the AI SDK. One of
   * `query` and `messages` is needed.
   */
  readonly messages?: readonly Message[] | undefined;
  /** Most tokens the whole block may take, at least 0. Default: the policy's, else 4000. 0 gives an empty block. */
  readonly tokenBudget?: number | undefined;
  /** Language of the dates in the block, such as `de-DE`. Default `en-US`. */
  readonly locale?: string | undefined;
  /** Zone of the dates in the block, such as `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string | undefined;
}

export interface RunInput {
  /** 1..128 characters. Reporting the same run again, within a day, stores nothing again. */
  readonly runId: string;
  /** What the run was asked. Stored from 80 characters (code points) up. */
  readonly input?: string | undefined;
  /** What it answered. */
  readonly output?: string | undefined;
  /** Where to store it. Default: the policy's `writeNamespace`. */
  readonly namespace?: string | undefined;
  /** When the run took place. */
  readonly observedAt?: InstantInput | null | undefined;
}

/** On whose behalf an agent acts: its policy is found by the first two, all fill its patterns. 1..128 characters each. */
export interface SubjectInput {
  readonly agentId?: string | undefined;
  /** A task's policy replaces its agent's whole. */
  readonly taskId?: string | undefined;
  readonly chatId?: string | undefined;
  readonly sessionId?: string | undefined;
}

export interface ListInput {
  readonly namespaces?: readonly string[] | undefined;
  readonly filter?: FilterInput | undefined;
  /** Default `live`: what a recall can find. */
  readonly lifecycle?: Lifecycle | undefined;
  /** Words that must all occur in the content, any case. */
  readonly text?: string | undefined;
  /** 1..500, default 50. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface NamespacesInput {
  /** Paths (that namespace alone) or patterns (`p.*` is all below p). Default: everything readable. */
  readonly namespace?: string | readonly string[] | undefined;
  /** Namespaces per page, 1..500, default 50. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

export type ExportInput = Pick<ListInput, 'namespaces' | 'filter' | 'lifecycle'>;

export interface FeedbackInput {
  readonly memoryId: string;
  /** `traceId` of the recall that showed the entry. */
  readonly traceId: string;
  readonly signal: FeedbackSignal;
}

export interface RuleInput {
  /** Covers what it matches and every namespace below. */
  readonly pattern: string;
  /** In [0, 1], default 0. */
  readonly bonus?: number | undefined;
  readonly description?: string | null | undefined;
  readonly instructionTemplate?: string | null | undefined;
}

/** The new side of a supersession: an entry to write, or the id of one that exists. */
export type SuccessorInput = RememberInput | { readonly id: string };

/** What a change of the embedding model is to be. */
export interface ModelChangeInput {
  /** Name of the provider to change to. Default: the configured one. */
  readonly to?: string | undefined;
  /** `*` for everything (default), a namespace, or a namespace and `.*` for all below it. */
  readonly scope?: string | undefined;
  /** Whether searches switch as soon as it is complete and verified. Default true. */
  readonly switchesItself?: boolean | undefined;
  /** Whether vectors that the switch leaves unused are removed then. Default false: a rollback needs them. */
  readonly purgesOld?: boolean | undefined;
}

export interface VerifyInput {
  /** What to ask both models for, at most 100 texts. Default: the beginnings of some entries. */
  readonly queries?: readonly string[] | undefined;
}

export interface SwitchInput {
  /** Switches although the model refuses some entries, which are then found no more. Default false. */
  readonly acceptsRefused?: boolean | undefined;
}

export interface RollbackInput {
  /** The scope that was changed. Default `*`. */
  readonly scope?: string | undefined;
  /** Switches back at once, although entries written since may wait for their vector. Default false. */
  readonly immediately?: boolean | undefined;
}

import { inCodeNames } from '../contract/code-names.ts';
import { entityTag } from '../contract/entity-tag.ts';
import type {
  ExportInput,
  FeedbackInput,
  ListInput,
  RememberInput,
  RememberOptionsInput,
  RunInput,
  SuccessorInput,
  UpdateInput,
} from '../contract/inputs.ts';
import { exportRequestSchema, listRequestSchema } from '../contract/list-request.ts';
import { listQueryFields, type QueryFields } from '../contract/list-url.ts';
import { memoryDraftSchema, unplacedBatchSchema, unplacedDraftSchema } from '../contract/memory-draft.ts';
import type { ShownEntry } from '../contract/memory-entry.ts';
import { parseContract } from '../contract/parse-contract.ts';
import type { ShownRecallAnswer } from '../contract/recall-answer.ts';
import { rememberOptionsSchema } from '../contract/remember-options.ts';
import {
  ANY_ENTRY,
  IF_NONE_MATCH_HEADER,
  type RequestSubjectHeaders,
  writeSubjectHeaders,
} from '../contract/request-headers.ts';
import { ROUTES } from '../contract/routes/routes.ts';
import { existingEntrySchema } from '../contract/supersede.ts';
import { updateOptionsSchema } from '../contract/update-options.ts';
import { requestsToWire, requestToWire } from '../contract/wire-form.ts';
import type { Answer } from './answer.ts';
import { AuditClient } from './audit-client.ts';
import { EmbeddingsClient } from './embeddings-client.ts';
import type {
  ClientContextInput,
  ClientRecallInput,
  ImportOptions,
  ImportTotals,
  NamespacesInput,
  StatsInput,
} from './inputs.ts';
import { KeysClient } from './keys-client.ts';
import { PoliciesClient } from './policies-client.ts';
import { ProfilesClient } from './profiles-client.ts';
import { RulesClient } from './rules-client.ts';
import { sendImport } from './send-import.ts';
import { TracesClient } from './traces-client.ts';
import { bodyOf, type CallOptions, type Fetch, queryOf, Transport } from './transport.ts';

export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:7077`. A path in it is kept: a proxy may serve it below one. */
  readonly baseUrl: string;
  /** An API key or a bearer token. Not needed for a server that serves its own machine alone. */
  readonly apiKey?: string | undefined;
  /** Default: the platform's. */
  readonly fetch?: Fetch | undefined;
  /** Milliseconds until a request is given up, default 30,000; 0: never. Exports and imports have no limit. */
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** `ifVersion`: refuses with `precondition_failed` unless the entry still has this version. */
export type UpdateCallOptions = CallOptions & { readonly ifVersion?: number | undefined };

/** `ifNew`: refuses with `precondition_failed` what a live entry of the namespace holds, rather than refresh it. */
export type RememberCallOptions = CallOptions & RememberOptionsInput;

/**
 * A client of a running server. Nothing is sent before the first call, and every failure rejects with a
 * `PalimpsestError` of the same code the server gave; `server_unreachable` where none answered.
 *
 * Inputs and answers have the names and the `Date`s of the library, metadata keys are left alone, and no object
 * that is passed in is changed.
 *
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:7077', apiKey: 'pal_…' });
 * await client.remember({ namespace: 'vector.user.ada.notes', content: 'Ada prefers tea over coffee.' });
 * const { hits } = await client.recall({ query: 'Tea or coffee?' });
 */
export function createClient(options: ClientOptions): PalimpsestClient {
  // Looked up at each call, so that a `fetch` that is installed later is used.
  const { baseUrl, apiKey, fetch = (url, init) => globalThis.fetch(url, init), timeoutMs } = options;
  return new PalimpsestClient(
    new Transport({ baseUrl, apiKey, fetch, headers: {}, timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS }),
  );
}

export class PalimpsestClient {
  /** Rules that give bonuses and instructions to namespaces. */
  readonly rules: RulesClient;
  readonly profiles: ProfilesClient;
  /** What agents and tasks may do. */
  readonly policies: PoliciesClient;
  readonly keys: KeysClient;
  /** Which models search, and changes of them. Administrators only. */
  readonly embeddings: EmbeddingsClient;
  /** Who read, wrote, decided and was refused. Administrators only. */
  readonly audit: AuditClient;
  /** How searches came to their results. */
  readonly traces: TracesClient;
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.rules = new RulesClient(transport);
    this.profiles = new ProfilesClient(transport);
    this.policies = new PoliciesClient(transport);
    this.keys = new KeysClient(transport);
    this.embeddings = new EmbeddingsClient(transport);
    this.audit = new AuditClient(transport);
    this.traces = new TracesClient(transport);
  }

  /** The same client on behalf of an agent, a task, a chat or a session, whose policies apply. */
  for(
    subject: NonNullable<RequestSubjectHeaders['subject']> & Pick<RequestSubjectHeaders, 'origin'>,
  ): PalimpsestClient {
    const { origin, ...ids } = subject;
    return new PalimpsestClient(this.#transport.with(writeSubjectHeaders({ subject: ids, origin })));
  }

  /**
   * The same client for what an agent's tools ask: the agent's policy says whether they may write and delete, and the
   * audit says that a tool asked.
   */
  forTools(): PalimpsestClient {
    return this.for({ origin: 'tool_call' });
  }

  /** Stores one entry. The same content in the same namespace refreshes the live entry that has it. */
  async remember(input: RememberInput, options: RememberCallOptions = {}): Promise<Answer<'createMemory'>> {
    const { ifNew, ...callOptions } = options;
    const body = await bodyOf(unplacedDraftSchema, input, 'remember');
    const headers = await newEntryHeaders(ifNew);
    return this.#transport.call(ROUTES.createMemory, { body, headers }, callOptions);
  }

  /** Stores 1..500 entries together or none of them; a refusal names the item. */
  async rememberMany(
    inputs: readonly RememberInput[],
    options: RememberCallOptions = {},
  ): Promise<Answer<'createMemories'>['results']> {
    const { ifNew, ...callOptions } = options;
    const body = { memories: requestsToWire(unplacedDraftSchema, inputs, 'memories') };
    await inCodeNames(() => parseContract(unplacedBatchSchema, body, { itemsOf: 'memories' }));
    const headers = await newEntryHeaders(ifNew);
    return (await this.#transport.call(ROUTES.createMemories, { body, headers }, callOptions)).results;
  }

  /** Finds what is worth remembering, by default under the profile `boosted`. Reading moves no counter. */
  async recall(input: ClientRecallInput = {}, options?: CallOptions): Promise<ShownRecallAnswer> {
    const body = await bodyOf(ROUTES.searchMemories.body, input, 'recall');
    return this.#transport.call(ROUTES.searchMemories, { body }, options);
  }

  /** The same, by default under the profile `weighted`. */
  async relevant(input: ClientRecallInput = {}, options?: CallOptions): Promise<ShownRecallAnswer> {
    const body = await bodyOf(ROUTES.relevantMemories.body, input, 'relevant');
    return this.#transport.call(ROUTES.relevantMemories, { body }, options);
  }

  /**
   * Makes the memory block of a prompt, for the end of the last user message; with `returnMessages` it puts it
   * there. Reading moves no counter.
   */
  async context(input: ClientContextInput, options?: CallOptions): Promise<Answer<'fillContext'>> {
    const body = await bodyOf(ROUTES.fillContext.body, input, 'context');
    return this.#transport.call(ROUTES.fillContext, { body }, options);
  }

  /** Stores what a run was asked and what it answered, where the policy of the agent or task allows it. */
  async observeRun(input: RunInput, options?: Pick<CallOptions, 'signal'>): Promise<Answer<'observeRun'>> {
    const body = await bodyOf(ROUTES.observeRun.body, input, 'observeRun');
    return this.#transport.call(ROUTES.observeRun, { body }, options);
  }

  /** Reads an entry whatever has become of it: `lifecycle` says. */
  get(id: string, options?: CallOptions): Promise<ShownEntry> {
    return this.#transport.call(ROUTES.getMemory, { params: { id } }, options);
  }

  /** One page of entries, newest first. */
  async list(input: ListInput = {}, options?: CallOptions): Promise<Answer<'listMemories'>> {
    const query = await listQuery(listRequestSchema, input, 'list');
    return this.#transport.call(ROUTES.listMemories, { query }, options);
  }

  /** Every entry of a list, read a page at a time. */
  listAll(input: Omit<ListInput, 'cursor'> = {}, options?: CallOptions): AsyncGenerator<ShownEntry> {
    return allPages(async (cursor) => {
      const { entries, nextCursor } = await this.list({ ...input, cursor }, options);
      return { items: entries, nextCursor };
    });
  }

  /** Changes an entry. New content is embedded again and clears a confirmation; nothing else does. */
  async update(id: string, input: UpdateInput, options: UpdateCallOptions = {}): Promise<ShownEntry> {
    const { ifVersion, ...callOptions } = options;
    const body = await bodyOf(ROUTES.updateMemory.body, input, 'update');
    const condition = requestToWire(updateOptionsSchema, { ifVersion }, 'update');
    await inCodeNames(() => parseContract(updateOptionsSchema, condition));
    const headers = ifVersion === undefined ? {} : { 'if-match': entityTag(ifVersion) };
    return this.#transport.call(ROUTES.updateMemory, { params: { id }, body, headers }, callOptions);
  }

  confirm(id: string, options?: CallOptions): Promise<ShownEntry> {
    return this.#transport.call(ROUTES.confirmMemory, { params: { id } }, options);
  }

  unconfirm(id: string, options?: CallOptions): Promise<ShownEntry> {
    return this.#transport.call(ROUTES.unconfirmMemory, { params: { id } }, options);
  }

  /** Puts a newer entry in the place of an older one; the older leaves the search, not the store. */
  async supersede(
    oldId: string,
    successor: SuccessorInput,
    options?: CallOptions,
  ): Promise<Answer<'supersedeMemory'>> {
    const body = isExisting(successor)
      ? await bodyOf(existingEntrySchema, successor, 'supersede')
      : { draft: await bodyOf(unplacedDraftSchema, successor, 'supersede') };
    return this.#transport.call(ROUTES.supersedeMemory, { params: { id: oldId }, body }, options);
  }

  /** The whole chain of supersession an entry stands in, oldest first. */
  history(id: string, options?: CallOptions): Promise<Answer<'memoryHistory'>> {
    return this.#transport.call(ROUTES.memoryHistory, { params: { id } }, options);
  }

  /** Soft delete: no recall finds it, `restore` brings it back. */
  forget(id: string, options?: CallOptions): Promise<ShownEntry> {
    return this.#transport.call(ROUTES.forgetMemory, { params: { id } }, options);
  }

  restore(id: string, options?: CallOptions): Promise<ShownEntry> {
    return this.#transport.call(ROUTES.restoreMemory, { params: { id } }, options);
  }

  /** Removes the entry and its embeddings from disk, for good. */
  purge(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(ROUTES.purgeMemory, { params: { id } }, options);
  }

  /** An explicit signal about a hit: the only thing that moves its counters. Counts once. */
  async feedback(input: FeedbackInput, options?: CallOptions): Promise<Answer<'giveFeedback'>> {
    const body = await bodyOf(ROUTES.giveFeedback.body, input, 'feedback');
    return this.#transport.call(ROUTES.giveFeedback, { body }, options);
  }

  /** How often each signal was given for an entry. */
  async feedbackSummary(id: string, options?: CallOptions): Promise<Answer<'feedbackSummary'>['signals']> {
    return (await this.#transport.call(ROUTES.feedbackSummary, { params: { id } }, options)).signals;
  }

  /** One page of namespaces with what they hold, by path. */
  async namespaces(input: NamespacesInput = {}, options?: CallOptions): Promise<Answer<'listNamespaces'>> {
    const query = await queryOf(ROUTES.listNamespaces.query, input, 'namespaces');
    return this.#transport.call(ROUTES.listNamespaces, { query }, options);
  }

  /** Every namespace, read a page at a time. */
  namespacesAll(
    input: Omit<NamespacesInput, 'cursor'> = {},
    options?: CallOptions,
  ): AsyncGenerator<Answer<'listNamespaces'>['namespaces'][number]> {
    return allPages(async (cursor) => {
      const { namespaces, nextCursor } = await this.namespaces({ ...input, cursor }, options);
      return { items: namespaces, nextCursor };
    });
  }

  /** What you may read, counted. */
  async stats(input: StatsInput = {}, options?: CallOptions): Promise<Answer<'getStats'>> {
    const query = await queryOf(ROUTES.getStats.query, input, 'stats');
    return this.#transport.call(ROUTES.getStats, { query }, options);
  }

  /** All entries of a scope, newest first, as a stream. */
  async *exportEntries(input: ExportInput = {}, options?: CallOptions): AsyncGenerator<ShownEntry> {
    const query = await listQuery(exportRequestSchema, input, 'exportEntries');
    yield* this.#transport.lines(ROUTES.exportMemories, { query }, options);
  }

  /**
   * Stores a stream of entries, a request for every few hundred of them. What was stored before a failure stays;
   * storing it again refreshes it. A refusal names the entry by its `line`, counted from 1 over the whole stream.
   */
  importEntries(
    inputs: AsyncIterable<RememberInput> | Iterable<RememberInput>,
    options: ImportOptions = {},
  ): Promise<ImportTotals> {
    const schema = options.namespace === undefined ? memoryDraftSchema : unplacedDraftSchema;
    return sendImport(this.#transport, lineOf(schema), inputs, options);
  }

  /** Who the server takes you for, what your credential may be used for, and your settings. */
  me(options?: CallOptions): Promise<Answer<'getMe'>> {
    return this.#transport.call(ROUTES.getMe, {}, options);
  }

  /** Decides whether administrators may read your private namespaces. */
  async setAllowAdminMemory(allow: boolean, options?: CallOptions): Promise<Answer<'putMySettings'>> {
    const body = await bodyOf(ROUTES.putMySettings.body, { allowAdminMemory: allow }, 'setAllowAdminMemory');
    return this.#transport.call(ROUTES.putMySettings, { body }, options);
  }
}

async function newEntryHeaders(ifNew: boolean | undefined): Promise<Record<string, string>> {
  const condition = requestToWire(rememberOptionsSchema, { ifNew }, 'remember');
  await inCodeNames(() => parseContract(rememberOptionsSchema, condition));
  return ifNew === true ? { [IF_NONE_MATCH_HEADER]: ANY_ENTRY } : {};
}

function isExisting(successor: SuccessorInput): boolean {
  return typeof successor === 'object' && successor !== null && 'id' in successor;
}

/** A list's input as a query string, checked as the library checks it. */
async function listQuery(
  schema: typeof listRequestSchema | typeof exportRequestSchema,
  input: unknown,
  what: string,
): Promise<QueryFields> {
  const wire = requestToWire(schema, input, what);
  await inCodeNames(() => parseContract<unknown>(schema, wire));
  return listQueryFields(wire as Parameters<typeof listQueryFields>[0]);
}

/** The line that stands for an entry in an import. */
function lineOf(schema: typeof memoryDraftSchema | typeof unplacedDraftSchema) {
  return async (input: RememberInput) => `${JSON.stringify(await bodyOf(schema, input, 'importEntries'))}\n`;
}

async function* allPages<Item>(
  pageAfter: (
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly Item[]; readonly nextCursor: string | null }>,
): AsyncGenerator<Item> {
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await pageAfter(cursor);
    yield* items;
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
}

import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { MIN_RUN_INPUT_LENGTH } from '../core/defaults.ts';
import { checkWord, isBlank } from '../core/entry.ts';
import { conflict, excerpt, PalimpsestError } from '../core/errors.ts';
import { effectivePolicy, policySubjects } from '../core/request-policy.ts';
import { splitContent } from '../core/split-content.ts';
import type { JsonObject, JsonValue, UnplacedDraft, WriteResult } from '../core/types.ts';
import { withIdempotency } from './governance/idempotency.ts';
import type { KeptAnswer } from './governance/model.ts';
import { rememberMany } from './remember.ts';
import type { RequestContext, RequestSubject } from './request-context.ts';
import { mayUnattended } from './request-policy.ts';
import type { ServiceState } from './service-parts.ts';

/** A finished run of an agent, as its host reports it. */
export interface ObservedRun {
  /** 1..128 characters. Reporting the same run again, within a day, stores nothing again. */
  readonly runId: string;
  /** What the run was asked. Stored from 80 characters up. */
  readonly input?: string | undefined;
  /** What it answered. */
  readonly output?: string | undefined;
  /** Where to store it. Default: the policy's `writeNamespace`. */
  readonly namespace?: string | undefined;
  /** When the run took place. */
  readonly observedAt?: Date | undefined;
}

export type RunPart = 'input' | 'output';

export interface StoredRunPart {
  readonly part: RunPart;
  readonly memoryId: string;
  /** `refresh`: a live entry of the namespace had the same content. */
  readonly operation: WriteResult['operation'];
}

/**
 * A part that was not stored. `not_allowed`: no policy has `allow_write` for the agent. `too_short`: an input of
 * fewer than 80 characters. `blank`: there is nothing in it.
 */
export interface SkippedRunPart {
  readonly part: RunPart;
  readonly reason: 'not_allowed' | 'too_short' | 'blank';
}

export interface RunResult {
  readonly runId: string;
  /** Whether the run had been stored before; this is the answer of then. */
  readonly isReplay: boolean;
  /** One for each entry: a part longer than 64 KiB is stored in several. */
  readonly stored: readonly StoredRunPart[];
  readonly skipped: readonly SkippedRunPart[];
}

/** Longest id of a run, in code points. */
const MAX_RUN_ID_LENGTH = 128;

/**
 * Stores what a run was asked and what it answered, where the policy of its agent or task has `allow_write`, with
 * the sources `run_input` and `run_output` and whom it was for in the metadata.
 *
 * Where nothing may be stored it says so and does not fail: a host reports every run, and the policy decides.
 *
 * @throws PalimpsestError `conflict` where the same run was reported with another input or output, `invalid_input`
 *   where nothing names a namespace, `forbidden` for a namespace the asker may not write to
 */
export async function observeRun(
  state: ServiceState,
  context: RequestContext,
  run: ObservedRun,
): Promise<RunResult> {
  const runId = checkWord(run.runId, 'run_id', MAX_RUN_ID_LENGTH);
  const automatic: RequestContext = { ...context, origin: 'automatic' };
  const skipped: SkippedRunPart[] = [];
  const parts = givenParts(run).filter(({ part, text }) => {
    const reason = reasonToSkip(part, text);
    if (reason !== null) skipped.push({ part, reason });
    return reason === null;
  });
  if (parts.length === 0) return { runId, isReplay: false, stored: [], skipped };
  if (!(await mayStore(state, automatic))) {
    const refused = parts.map(({ part }): SkippedRunPart => ({ part, reason: 'not_allowed' }));
    return { runId, isReplay: false, stored: [], skipped: [...skipped, ...refused] };
  }
  const drafts = parts.flatMap(({ part, text }) =>
    draftsOf(run, context.subject ?? {}, part, text).map((draft) => ({ part, draft })),
  );
  const { body, isReplay } = await onceOnly(state, automatic, run, async () => {
    const results = await rememberMany(
      state,
      automatic,
      drafts.map(({ draft }) => draft),
    );
    return { status: 200, body: keptParts(drafts, results) };
  });
  return { runId, isReplay, stored: storedParts(body), skipped };
}

interface GivenPart {
  readonly part: RunPart;
  readonly text: string;
}

function givenParts({ input, output }: ObservedRun): GivenPart[] {
  return [
    ...(input === undefined ? [] : [{ part: 'input' as const, text: input }]),
    ...(output === undefined ? [] : [{ part: 'output' as const, text: output }]),
  ];
}

function reasonToSkip(part: RunPart, text: string): 'too_short' | 'blank' | null {
  if (isBlank(text)) return 'blank';
  return part === 'input' && [...text.trim()].length < MIN_RUN_INPUT_LENGTH ? 'too_short' : null;
}

/** Asked before anything is embedded: what may not be stored is sent to no provider. The write asks again. */
async function mayStore(state: ServiceState, context: RequestContext): Promise<boolean> {
  const subjects = policySubjects(context.subject ?? {});
  const policies = await Promise.all(
    subjects.map((subject) => state.governance.findPolicy(context.access, subject)),
  );
  const found = policies.filter((policy) => policy !== null);
  return mayUnattended(context, effectivePolicy(subjects, found), 'write');
}

function draftsOf(run: ObservedRun, subject: RequestSubject, part: RunPart, text: string): UnplacedDraft[] {
  const contents = splitContent(text).filter((content) => !isBlank(content));
  return contents.map((content, index) => ({
    namespace: run.namespace,
    content,
    type: 'episode',
    source: { kind: `run_${part}`, ref: run.runId },
    metadata: {
      run_id: run.runId,
      ...idsOf(subject),
      ...(contents.length === 1 ? {} : { part: index + 1, parts: contents.length }),
    },
    observedAt: run.observedAt,
  }));
}

function idsOf({ agentId, taskId, chatId, sessionId }: RequestSubject): JsonObject {
  const ids = { agent_id: agentId, task_id: taskId, chat_id: chatId, session_id: sessionId };
  return Object.fromEntries(
    Object.entries(ids).flatMap(([name, id]) => (id === undefined ? [] : [[name, id]])),
  );
}

/** How long a report waits for one of the same run that is under way, and how often it looks. */
const WAIT_MS = 10_000;
const LOOK_EVERY_MS = 100;

/** Two reports of one run at once are one: the second waits for the first and gives its answer. */
async function onceOnly(
  state: ServiceState,
  context: RequestContext,
  run: ObservedRun,
  work: () => Promise<KeptAnswer>,
): Promise<KeptAnswer & { readonly isReplay: boolean }> {
  const key = `run:${run.runId}`;
  const requestHash = hashOf(run, context.subject ?? {});
  const until = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await withIdempotency(state, context, { key, requestHash }, work);
    } catch (error) {
      if (!PalimpsestError.isInstance(error) || !isAboutKey(error)) throw error;
      if (error.retryAfterSeconds === undefined) throw anotherRun(run.runId);
      if (performance.now() > until) throw error;
      await pause(LOOK_EVERY_MS);
    }
  }
}

function isAboutKey({ code, details }: PalimpsestError): boolean {
  return code === 'conflict' && details[0]?.path === 'idempotency-key';
}

function hashOf(
  { runId, input, output, namespace, observedAt }: ObservedRun,
  subject: RequestSubject,
): string {
  const ids = idsOf(subject);
  const whole = JSON.stringify([
    runId,
    input ?? null,
    output ?? null,
    namespace ?? null,
    observedAt ?? null,
    ids,
  ]);
  return createHash('sha256').update(whole, 'utf8').digest('hex');
}

function anotherRun(runId: string): PalimpsestError {
  return conflict(`The run ${excerpt(runId)} was reported before, with another input, output or place.`, {
    path: 'run_id',
    got: runId,
    hint: 'Give each run an id of its own.',
  });
}

/** As it is kept: `[part, id, operation]` for each entry. */
function keptParts(
  drafts: readonly { readonly part: RunPart }[],
  results: readonly WriteResult[],
): JsonValue {
  return drafts.flatMap(({ part }, index) => {
    const result = results[index];
    return result === undefined ? [] : [[part, result.entry.id, result.operation]];
  });
}

function storedParts(kept: JsonValue): StoredRunPart[] {
  return (kept as [RunPart, string, WriteResult['operation']][]).map(([part, memoryId, operation]) => {
    return { part, memoryId, operation };
  });
}

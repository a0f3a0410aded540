import { checkWord } from '../../core/entry.ts';
import { PalimpsestError } from '../../core/errors.ts';
import type { RequestContext } from '../request-context.ts';
import type { ServiceState } from '../service-parts.ts';
import type { KeptAnswer } from './model.ts';

/** Longest key, in code points: a UUID has 36. */
const MAX_KEY_LENGTH = 255;
/** Most requests are answered within a second. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Carries a request out once per key, and gives its answer again to whoever repeats it within a day.
 *
 * A request that fails gives its key up: it changed nothing, so that repeating it is right. When a server dies
 * between the change and keeping the answer, the key lapses after a minute and the request is carried out again;
 * what is written under a namespace's content is then refreshed, not doubled.
 */
export async function withIdempotency(
  { governance, clock, log }: ServiceState,
  { access }: RequestContext,
  { key, requestHash }: { readonly key: string; readonly requestHash: string },
  work: () => Promise<KeptAnswer>,
): Promise<KeptAnswer & { readonly isReplay: boolean }> {
  checkWord(key, 'idempotency-key', MAX_KEY_LENGTH);
  const claim = await governance.claimIdempotencyKey(access, key, requestHash, clock());
  if (claim.state === 'running') throw stillRunning();
  if (claim.state === 'answered') {
    const { answer } = claim;
    if (answer.requestHash !== requestHash) throw otherRequest();
    return { status: answer.status, body: answer.body, isReplay: true };
  }
  let answer: KeptAnswer;
  try {
    answer = await work();
  } catch (error) {
    await governance.releaseIdempotencyKey(access, key).catch((failure: unknown) => {
      // The claim lapses by itself; the asker gets the error that matters.
      log.warn('an idempotency key could not be given up', {}, failure);
    });
    throw error;
  }
  try {
    await governance.keepAnswer(access, key, { requestHash, ...answer });
  } catch (error) {
    // The change is made: to fail now would have the asker repeat it.
    log.warn('an answer could not be kept under its idempotency key', {}, error);
  }
  return { ...answer, isReplay: false };
}

function otherRequest(): PalimpsestError {
  return new PalimpsestError('conflict', 'This Idempotency-Key was used for another request.', {
    details: [{ path: 'idempotency-key', hint: 'Make a new key for each request that is not a repetition.' }],
  });
}

function stillRunning(): PalimpsestError {
  return new PalimpsestError('conflict', 'The first request with this Idempotency-Key is still running.', {
    details: [{ path: 'idempotency-key', hint: 'Repeat it a little later to get its answer.' }],
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

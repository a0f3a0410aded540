import { hasCode, PalimpsestError } from '../core/errors.ts';
import type { ToolBackend } from './tool-backend.ts';

/** A way to the memory, and how to let go of it. */
export interface ReachedBackend {
  readonly backend: ToolBackend;
  close(): Promise<void>;
}

/** The memory of a process that shares its data with others, whoever of them holds it at the moment. */
export interface SharedBackend {
  readonly backend: ToolBackend;
  /** Reaches the data before it is first asked for. What fails is told to whoever asks. */
  warm(): void;
  close(): Promise<void>;
}

/**
 * Speaks to the memory by whatever way there is when it is asked. A server that held the data may end at any time,
 * and then this process takes the data over, or goes to the next one that has. The call that found nobody is made
 * once more by the new way.
 *
 * @param reach - Opens the data, or finds who has it open. Called again after it failed or its way is gone.
 */
export function createSharedBackend(reach: () => Promise<ReachedBackend>): SharedBackend {
  let reached: Promise<ReachedBackend> | undefined;
  let isClosed = false;

  const current = () => {
    if (isClosed) throw new PalimpsestError('store_unavailable', 'This process is ending.');
    if (reached !== undefined) return reached;
    const attempt = reach();
    reached = attempt;
    // A failure is not kept: the next call may find the data free.
    attempt.catch(() => {
      if (reached === attempt) reached = undefined;
    });
    return attempt;
  };

  const leave = async (left: Promise<ReachedBackend>) => {
    if (reached !== left) return;
    reached = undefined;
    await (await left).close();
  };

  const call = async <T>(
    work: (backend: ToolBackend) => Promise<T>,
    { isRepeatable = true } = {},
  ): Promise<T> => {
    const way = current();
    const { backend } = await way;
    try {
      return await work(backend);
    } catch (error) {
      if (!isWayGone(error, isRepeatable)) throw error;
      await leave(way);
      return work((await current()).backend);
    }
  };

  return {
    backend: {
      recall: (body) => call((backend) => backend.recall(body)),
      remember: (body) => call((backend) => backend.remember(body)),
      update: (id, body) => call((backend) => backend.update(id, body)),
      // Superseding twice is refused: after an answer that was lost it must not be tried again.
      supersede: (id, body) => call((backend) => backend.supersede(id, body), { isRepeatable: false }),
      forget: (id) => call((backend) => backend.forget(id)),
      feedback: (body) => call((backend) => backend.feedback(body)),
      list: (body) => call((backend) => backend.list(body)),
      get: (id) => call((backend) => backend.get(id)),
      namespaces: (after) => call((backend) => backend.namespaces(after)),
    },
    warm() {
      if (!isClosed) current().catch(() => {});
    },
    async close() {
      isClosed = true;
      const last = reached;
      if (last === undefined) return;
      const opened = await last.catch(() => undefined);
      await opened?.close();
    },
  };
}

/** Whether whoever was spoken to is not there any more, and asking another way is harmless. */
function isWayGone(error: unknown, isRepeatable: boolean): boolean {
  if (!PalimpsestError.isInstance(error)) return false;
  // The data is in other hands now: what they were shown is not what they ask for.
  if (error.code === 'unauthenticated') return true;
  if (error.code !== 'server_unreachable') return false;
  if (isTimeout(error.cause)) return false;
  return isRepeatable || wasConnectionRefused(error.cause);
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'TimeoutError';
}

/** Nobody has read the request then. */
function wasConnectionRefused(cause: unknown): boolean {
  const inner = cause instanceof Error ? cause.cause : undefined;
  return hasCode(inner, 'ECONNREFUSED');
}

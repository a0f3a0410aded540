/**
 * A memory, or what finds the one of a request: a handle for the user who is asking, say. It is asked at every step,
 * since a host may keep one context for many users. Steps of one run that get the same object share one search for the
 * prompt: `memory.as(user)` gives the same handle for the same user.
 */
export type MemorySource<Memory extends object, Context> = Memory | ((context: Context) => Memory);

/** Who asks is known when a request comes; whose memory that is, the host says and no model. */
export function memoryFinder<Memory extends object, Context>(
  source: MemorySource<Memory, Context>,
): (context: Context) => Memory {
  return typeof source === 'function' ? source : () => source;
}

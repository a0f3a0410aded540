/**
 * A memory, or what finds the one of a request: a handle for the user who is asking, say. It is asked once for each
 * context object, so that all steps of a run have the same one.
 */
export type MemorySource<Memory extends object, Context> = Memory | ((context: Context) => Memory);

/** Who asks is known when a request comes; whose memory that is, the host says and no model. */
export function memoryFinder<Memory extends object, Context>(
  source: MemorySource<Memory, Context>,
): (context: Context) => Memory {
  if (typeof source !== 'function') return () => source;
  const found = new WeakMap<object, Memory>();
  return (context) => {
    if (typeof context !== 'object' || context === null) return source(context);
    const known = found.get(context);
    if (known !== undefined) return known;
    const memory = source(context);
    found.set(context, memory);
    return memory;
  };
}

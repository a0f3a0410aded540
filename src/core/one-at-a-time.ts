/** However many ask while an answer is under way, they wait for that one: a question that hangs is asked once. */
export function oneAtATime<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= ask().finally(() => {
      running = undefined;
    });
    return running;
  };
}

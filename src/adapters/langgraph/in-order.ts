/** Runs work that belongs together in the order in which it was asked for, and other work beside it. */
export class InOrder {
  readonly #last = new Map<string, Promise<void>>();

  /** @returns What `work` gives. A failure is its own: what comes behind runs all the same. */
  async run<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const running = before.then(work);
    const done = running.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, done);
    try {
      return await running;
    } finally {
      if (this.#last.get(key) === done) this.#last.delete(key);
    }
  }
}

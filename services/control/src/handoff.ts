/**
 * Values that one side has and the other asks for, one at a time: who puts waits until the other asks for the next.
 *
 * Owns: the value that waits to be taken, and the end.
 */
export class Handoff<T> {
  #waiting: { readonly value: T; readonly taken: () => void } | null = null;
  #ended: { readonly reason: Error | null } | null = null;
  #wake: () => void = () => {};

  /** Resolves when the value was worked on, or nobody wants it any more. */
  put(value: T): Promise<void> {
    if (this.#ended !== null) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting = { value, taken: resolve };
    this.#wake();
    return promise;
  }

  /** Nothing follows. */
  end(): void {
    this.#finish(null);
  }

  fail(reason: Error): void {
    this.#finish(reason);
  }

  /** What is put, to its end; throws what it failed with. */
  async *values(): AsyncGenerator<T> {
    for (;;) {
      if (this.#waiting !== null) {
        const { value, taken } = this.#waiting;
        yield value;
        this.#waiting = null;
        taken();
      } else if (this.#ended !== null) {
        if (this.#ended.reason !== null) throw this.#ended.reason;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #finish(reason: Error | null): void {
    this.#ended ??= { reason };
    this.#waiting?.taken();
    this.#wake();
  }
}

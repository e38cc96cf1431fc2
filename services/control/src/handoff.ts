/**
 * Hands values from one side to another, one at a time: the side that puts a value waits until the other asks for the
 * next.
 *
 * Owns: the value that waits, and the end.
 */
export class Handoff<T> {
  #waiting: { readonly value: T; readonly taken: () => void } | null = null;
  #ended: { readonly reason: Error | null } | null = null;
  #wake: () => void = () => {};

  /** Resolves when the other side is done with the value, or this has ended. */
  put(value: T): Promise<void> {
    if (this.#ended !== null) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting = { value, taken: resolve };
    this.#wake();
    return promise;
  }

  /** Ends the values: none follows. */
  end(): void {
    this.#finish(null);
  }

  fail(reason: Error): void {
    this.#finish(reason);
  }

  /** The values as they are put, to the end; throws the reason of `fail`. */
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

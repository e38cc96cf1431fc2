/**
 * Runs work of the same key one after the other.
 *
 * Owns: for each key with work under way, the end of its last work.
 */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Begins `work` when the work before it under the key has ended, with success or not; settles as `work` does. */
  inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const lane = result
      .catch(() => undefined)
      .then(() => {
        if (this.#last.get(key) === lane) this.#last.delete(key);
      });
    this.#last.set(key, lane);
    return result;
  }
}

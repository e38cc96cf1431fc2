/**
 * Work that is done one after the other where it has the same key.
 *
 * Owns: of each key that has work under way, the last of it.
 */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Begins when what came before it under the key has ended, however that ended; settles as the work does. */
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

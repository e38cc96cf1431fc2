/**
 * The newest changes of a compacted topic by key, to tell a late write of an older one (P5) where no table holds every
 * key.
 *
 * Owns: two generations of changes; the older one is forgotten as a whole when the younger one is full.
 * NC1  The newest `limit` changes of different keys are held at least, and at most twice as many.
 */
export class RecentChanges<T> {
  readonly #limit: number;
  #young = new Map<string, T>();
  #old = new Map<string, T>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): T | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(key: string, change: T): void {
    if (this.#young.size >= this.#limit && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, change);
  }
}

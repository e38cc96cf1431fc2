/**
 * The newest changes of a compacted topic by key. They tell a late write of an older change (P5) where no table holds
 * all keys.
 *
 * Owns: two generations of changes. When the younger one is full, it replaces the older one.
 * NC1  It holds at least the newest `limit` changes of different keys, and at most twice as many.
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

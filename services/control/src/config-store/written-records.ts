/**
 * What became of the records that a config store wrote, as its table comes to them.
 *
 * Owns: the records that a change waits for, the keys that want repair (rule S5 of config-store.ts), and the value that
 * each key held before the record that the table is at.
 */

/** How a record of ours stood in the topic when the table came to it. */
export type Applied<T> =
  | { readonly outcome: "ignored" }
  | {
      readonly outcome: "applied";
      /** What the key held before. */
      readonly over: T | undefined;
    };

interface Awaited<T> {
  readonly revision: number;
  readonly resolve: (applied: Applied<T>) => void;
}

export class WrittenRecords<T> {
  readonly #held = new Map<string, T>();
  readonly #awaited = new Map<string, Awaited<T>>();
  readonly #stale = new Set<string>();
  /** Revisions of repairs that were sent and that the table has not come to. */
  readonly #repairing = new Map<string, number>();
  #repair: ((ids: Iterable<string>) => void) | undefined;

  /**
   * The table applied a record of the key: `undefined` removed it. `revisionHeld` is asked only where a change or a
   * repair is under way, since the first records come before whoever made the table has it.
   */
  handleChange(id: string, value: T | undefined, revisionHeld: () => number | undefined): void {
    const over = this.#held.get(id);
    if (value === undefined) this.#held.delete(id);
    else this.#held.set(id, value);
    this.#stale.delete(id);
    const repairing = this.#repairing.get(id);
    if (repairing !== undefined && repairing === revisionHeld()) this.#repairing.delete(id);
    const awaited = this.#awaited.get(id);
    if (awaited !== undefined && awaited.revision === revisionHeld()) awaited.resolve({ outcome: "applied", over });
  }

  /** The table ignored a record of the key, since its revision was below the one held. */
  handleStale(id: string, revision: number): void {
    const awaited = this.#awaited.get(id);
    if (awaited?.revision === revision) awaited.resolve({ outcome: "ignored" });
    // A repair that the table has not come to stands behind this record. A repair of each would be stale itself where a
    // change came between, and two processes that read late would answer each other's with ever more.
    const repairing = this.#repairing.get(id);
    if (repairing !== undefined && repairing !== revision) return;
    this.#repairing.delete(id);
    this.#stale.add(id);
    this.#repairStale();
  }

  /** The key's record of this revision is written again. */
  repairSent(id: string, revision: number): void {
    this.#repairing.set(id, revision);
  }

  repairFailed(id: string): void {
    this.#repairing.delete(id);
  }

  /** From now on keys that want repair are given to `repair`, those that wait for it first. */
  repairBy(repair: (ids: Iterable<string>) => void): void {
    this.#repair = repair;
    this.#repairStale();
  }

  /** Does the work that waits, by its argument, for the table to come to the key's record of this revision. */
  async whileAwaited(
    id: string,
    revision: number,
    work: (applied: Promise<Applied<T>>) => Promise<Applied<T>>,
  ): Promise<Applied<T>> {
    const { promise, resolve } = Promise.withResolvers<Applied<T>>();
    this.#awaited.set(id, { revision, resolve });
    try {
      return await work(promise);
    } finally {
      this.#awaited.delete(id);
    }
  }

  #repairStale(): void {
    if (this.#repair === undefined) return;
    this.#repair(this.#stale);
    this.#stale.clear();
  }
}

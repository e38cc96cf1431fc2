/**
 * What became of the records that a config store wrote, as its table comes to them.
 *
 * Owns: the records that changes wait for, the keys that need repair (rule S5 of config-store.ts), and the value that
 * each key had before the record that the table is at.
 */

/** What the table made of a record that this process wrote. */
export type Applied<T> =
  | { readonly outcome: "ignored" }
  | {
      readonly outcome: "applied";
      /** The value that the record replaced. */
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
  /** The revisions of repairs that were sent and that the table has not read yet. */
  readonly #repairing = new Map<string, number>();
  #repair: ((ids: Iterable<string>) => void) | undefined;

  /**
   * Notes that the table applied a record of the key, with `undefined` for a removal. `revisionHeld` is called only
   * where a change or a repair is under way, since the first records come before the table's maker has the table.
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

  /** Notes that the table ignored a record of the key, since its revision was below the current one. */
  handleStale(id: string, revision: number): void {
    const awaited = this.#awaited.get(id);
    if (awaited?.revision === revision) awaited.resolve({ outcome: "ignored" });
    // A repair that the table has not read yet stands behind this record. If each such record were repaired, a repair
    // would be stale itself after a change in between, and two processes that read late would answer each other with
    // ever more repairs.
    const repairing = this.#repairing.get(id);
    if (repairing !== undefined && repairing !== revision) return;
    this.#repairing.delete(id);
    this.#stale.add(id);
    this.#repairStale();
  }

  /** Notes that the key's record of this revision was written again. */
  repairSent(id: string, revision: number): void {
    this.#repairing.set(id, revision);
  }

  repairFailed(id: string): void {
    this.#repairing.delete(id);
  }

  /** Gives keys that need repair to `repair` from now on, the waiting ones first. */
  repairBy(repair: (ids: Iterable<string>) => void): void {
    this.#repair = repair;
    this.#repairStale();
  }

  /** Runs `work` with a promise that resolves when the table comes to the key's record of this revision. */
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

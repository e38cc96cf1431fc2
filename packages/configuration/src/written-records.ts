/**
 * The standing value of each key of a config topic, and the records that this process wrote, as its table reads them.
 *
 * Owns: the standing values (rule S4 of config-store.ts), the records that changes wait for, and the keys that need
 * repair (S5).
 */
import type { revisionsOf } from "@posthaste/contracts/headers";

/** The fate of a record that this process wrote: void (S4), or ignored for its lower revision (S5). */
export type Applied<T> =
  | { readonly outcome: "void" | "ignored" }
  | {
      readonly outcome: "standing";
      /** The standing value that the record replaced. */
      readonly over: T | undefined;
    };

interface Awaited<T> {
  readonly revision: number;
  readonly resolve: (applied: Applied<T>) => void;
}

interface Standing<T> {
  /** Undefined for a removed key, whose entry stays: a change from before the removal must not bring the key back. */
  readonly value: T | undefined;
  /** 0 for a removed key. */
  readonly revision: number;
  /** The revision that the record's writer changed; -1 where the record does not name it. */
  readonly base: number;
}

export class WrittenRecords<T> {
  readonly #standing = new Map<string, Standing<T>>();
  readonly #awaited = new Map<string, Awaited<T>>();
  readonly #stale = new Set<string>();
  /** The keys whose newest record is void. */
  readonly #void = new Set<string>();
  /** The revisions of repairs that were sent and that the table has not read yet. */
  readonly #repairing = new Map<string, number>();
  #repair: ((ids: Iterable<string>) => void) | undefined;

  /** The value of a key, void records left out (S4). */
  standing(id: string): T | undefined {
    return this.#standing.get(id)?.value;
  }

  /** The revision that the next record of the key names as its base: 0 where no value stands. */
  standingRevision(id: string): number {
    return this.#standing.get(id)?.revision ?? 0;
  }

  isVoid(id: string): boolean {
    return this.#void.has(id);
  }

  /** Notes that the table applied a record, with `undefined` for a removal; see `revisionsOf`. */
  handleChange(id: string, value: T | undefined, { revision, base }: ReturnType<typeof revisionsOf>): void {
    const before = this.#standing.get(id);
    const isStanding = before === undefined || stands(before, base);
    if (isStanding) {
      // A repair (S5) names its own revision: the base is that of the record that it repeats, where that was read.
      const repeated = before?.revision === revision ? before.base : -1;
      const own = base === revision ? repeated : (base ?? -1);
      this.#standing.set(id, { value, revision: value === undefined ? 0 : revision, base: own });
      this.#void.delete(id);
    } else {
      this.#void.add(id);
    }
    this.#stale.delete(id);
    if (this.#repairing.get(id) === revision) this.#repairing.delete(id);
    const awaited = this.#awaited.get(id);
    if (awaited?.revision !== revision) return;
    awaited.resolve(isStanding ? { outcome: "standing", over: before?.value } : { outcome: "void" });
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

/**
 * A record stands when its writer changed the standing record, or one that this process did not read as standing:
 * compaction leaves a void record first, and a record that no schema reads is not seen. The bases of standing records
 * rise, so a base above the standing record's own was such a record.
 */
function stands(before: Standing<unknown>, base: number | null): boolean {
  return base === null || base === before.revision || base > before.base;
}

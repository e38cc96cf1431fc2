/**
 * The states of destinations when an event was routed: their revisions up to the config offset that the event's log
 * entry names.
 */
import { type DestinationRevision, destinationFromEntry } from "@posthaste/read-model/destination-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";

/** The most revisions of a destination that are looked at, the newest ones. */
const MAX_REVISIONS = 500;

export interface DestinationThen extends Pick<DestinationRevision, "state" | "sourceIds"> {
  /** The moment since which the destination was switched on, or off, as it was then; ms since the epoch. */
  readonly sinceMs: number;
}

export class DestinationHistory {
  /** The revisions by destination id, the highest first. */
  readonly #revisions: ReadonlyMap<string, readonly DestinationRevision[]>;

  private constructor(revisions: ReadonlyMap<string, readonly DestinationRevision[]>) {
    this.#revisions = revisions;
  }

  /** Rejects with a Problem while the read model cannot be asked. */
  static async read(readModel: Pick<ReadModel, "newest">, ids: Iterable<string>): Promise<DestinationHistory> {
    const read = async (destinationId: string) => {
      const entries = await readModel.newest("destination_config", { destinationId, limit: MAX_REVISIONS });
      const revisions = entries.map(destinationFromEntry).sort((a, b) => b.revision - a.revision);
      return [destinationId, revisions] as const;
    };
    return new DestinationHistory(new Map(await Promise.all([...ids].map(read))));
  }

  /**
   * The destination's state at `configOffset`, the offset of the newest config record that the router had read. Null
   * where the history does not reach so far back; a destination that was made later counts as removed.
   */
  at(destinationId: string, configOffset: number): DestinationThen | null {
    const revisions = this.#revisions.get(destinationId) ?? [];
    const before = revisions.filter(({ offset }) => offset <= configOffset);
    const [then] = before;
    if (then === undefined) {
      const isWhole = revisions.length > 0 && revisions.length < MAX_REVISIONS;
      return isWhole ? { state: "removed", sourceIds: [], sinceMs: 0 } : null;
    }
    const changed = before.findIndex(({ state }) => state !== then.state);
    const first = before.at(changed === -1 ? -1 : changed - 1) ?? then;
    return { state: then.state, sourceIds: then.sourceIds, sinceMs: first.atMs };
  }
}

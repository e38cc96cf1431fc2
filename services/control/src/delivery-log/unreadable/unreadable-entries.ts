/**
 * The newest records that were quarantined, as they are read from `posthaste.unreadable`, in memory.
 *
 * Owns: an entry for each of the newest records quarantined, and the places of the newest that control quarantined
 * itself.
 * UJ1  A record that was quarantined twice, by two processes or after a restart, is one entry, named by the place from
 *      which it was read.
 * UJ2  There are entries of the newest `mostEntries`; older records stay in the topic.
 * UJ3  The topic itself marks a record that was produced again, so that every control process knows of it, after a
 *      restart too.
 * UJ4  The newest `mostPlaces` records that control quarantined are known, however many entries came after them.
 *      Control reads its topics from their starts at each start, and would quarantine each unknown record once more.
 */
import { headerText } from "@posthaste/contracts/headers";
import { decodeUnreadable, type Unreadable } from "@posthaste/contracts/unreadable-headers";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

/** The header of a mark (UJ3): the place of the record that was produced again, as `placeOf` writes it. */
export const REPRODUCED_HEADER = "reproduced";

/** The service whose places are kept beyond their entries (UJ4). */
const OURSELVES = "control";

export interface UnreadableEntry extends Unreadable {
  /** The partition and offset of the record in `posthaste.unreadable`. */
  readonly at: { readonly partition: number; readonly offset: number };
  /** The bytes of its value; null where the value was left out, or there was none. */
  readonly bytes: number | null;
  readonly isReproduced: boolean;
}

/** The fields that order the list. */
export type EntryName = Pick<UnreadableEntry, "topic" | "partition" | "offset" | "atMs">;

export interface UnreadableBounds {
  readonly mostEntries: number;
  readonly mostPlaces: number;
}

/** topic/partition/offset. */
export function placeOf({ topic, partition, offset }: Pick<Unreadable, "topic" | "partition" | "offset">): string {
  return `${topic}/${partition}/${offset}`;
}

/** The order of the list. */
export function newestFirst(a: EntryName, b: EntryName): number {
  if (a.atMs !== b.atMs) return b.atMs - a.atMs;
  const [placeA, placeB] = [placeOf(a), placeOf(b)];
  if (placeA === placeB) return 0;
  return placeA < placeB ? -1 : 1;
}

export class UnreadableEntries {
  readonly #bounds: UnreadableBounds;
  readonly #entries = new Map<string, UnreadableEntry>();
  readonly #ourPlaces = new Set<string>();

  constructor(bounds: UnreadableBounds) {
    this.#bounds = bounds;
  }

  /** Whether the record of this place is known to be quarantined. */
  has(place: string): boolean {
    return this.#entries.has(place) || this.#ourPlaces.has(place);
  }

  /** Newest first; entries of one moment by their places. */
  list(): readonly UnreadableEntry[] {
    return [...this.#entries.values()].sort(newestFirst);
  }

  /** Drops an entry whose record is no longer in the topic. */
  drop(entry: UnreadableEntry): void {
    this.#entries.delete(placeOf(entry));
  }

  /** Takes a record of the topic in: a mark, or one that was quarantined. */
  take({ partition, offset, value, headers }: IncomingRecord): void {
    const marked = headerText(headers, REPRODUCED_HEADER);
    if (marked !== undefined) this.#mark(marked);
    const unreadable = decodeUnreadable(headers);
    if (unreadable === null) return;
    const place = placeOf(unreadable);
    if (unreadable.by === OURSELVES) this.#takePlace(place);
    if (this.#entries.has(place)) return;
    const bytes = unreadable.isValueOmitted || value === null ? null : value.length;
    this.#entries.set(place, { ...unreadable, at: { partition, offset }, bytes, isReproduced: false });
    dropOldest(this.#entries, this.#bounds.mostEntries);
  }

  /** UJ3. */
  #mark(place: string): void {
    const entry = this.#entries.get(place);
    if (entry !== undefined) this.#entries.set(place, { ...entry, isReproduced: true });
  }

  /** UJ4. */
  #takePlace(place: string): void {
    this.#ourPlaces.add(place);
    dropOldest(this.#ourPlaces, this.#bounds.mostPlaces);
  }
}

/** Deletes the item that was added first, where there are more than `most`. */
function dropOldest(kept: Map<string, unknown> | Set<string>, most: number): void {
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}

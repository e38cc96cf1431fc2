/**
 * The newest entries of a topic in the order in which this process read them, for callers who watch it.
 *
 * Owns: the entries and, for each partition, the place from which on they are held and the offset up to which it was
 * read.
 * RE1  It holds `maxEntries` and at most `DROP_STEP` more, and at most `maxBytes`; it drops the oldest entries first.
 * RE2  Of each partition it holds every entry from the partition's floor on, up to its next offset. A caller who saw
 *      everything below a place that is not below the floor can go on from here without a gap.
 * RE3  The number of an entry rises, and no other entry ever has it.
 */

/**
 * Where an entry stands in its partition: the record's offset, and the entry's place among the entries of that record.
 */
export interface EntryPlace {
  readonly offset: number;
  readonly place: number;
}

export interface RecentEntry<T> extends EntryPlace {
  readonly number: number;
  readonly partition: number;
  readonly value: T;
}

/** An entry as it is read. */
export interface ReadEntry<T> extends EntryPlace {
  readonly value: T;
  /** About how many bytes of memory the entry takes. */
  readonly bytes: number;
}

export interface RecentBounds {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

export const RECENT_BOUNDS: RecentBounds = { maxEntries: 10_000, maxBytes: 16 * 1024 * 1024 };
/**
 * How many entries too many are held before the oldest are dropped together: moving up the rest costs as much for one.
 */
const DROP_STEP = 500;

interface PartitionState {
  floor: EntryPlace;
  /** The next offset to read. */
  next: number;
  /** The partition's end, when it was last asked for. */
  end: number;
  /** True once the partition was read up to that end: entries read since then are new. */
  isCaughtUp: boolean;
}

export class RecentEntries<T> {
  readonly #bounds: RecentBounds;
  readonly #partitions = new Map<number, PartitionState>();
  readonly #listeners = new Set<() => void>();
  #entries: (RecentEntry<T> & { readonly bytes: number })[] = [];
  #bytes = 0;
  #count = 0;
  #restarts = 0;
  #topicId = "";

  constructor(bounds: RecentBounds = RECENT_BOUNDS) {
    this.#bounds = bounds;
  }

  /** Rises when somebody made the topic anew: every place seen before then means nothing any longer. */
  get restarts(): number {
    return this.#restarts;
  }

  /** The number that the next entry will have. */
  get nextNumber(): number {
    return this.#count;
  }

  /**
   * Tells which topic is read by its id, which is empty where it is not known; drops what is held of an earlier topic
   * of the name.
   */
  beginTopic(id: string): void {
    if (this.#topicId !== "" && id !== "" && this.#topicId !== id) this.clear();
    if (id !== "") this.#topicId = id;
  }

  /** The reading of a partition begins at `from`, or goes on where it stood. */
  begin(partition: number, from: number): void {
    const held = this.#partitions.get(partition);
    if (held?.next === from) return;
    this.#keep((entry) => entry.partition !== partition);
    const floor = { offset: from, place: 0 };
    this.#partitions.set(partition, { floor, next: from, end: from, isCaughtUp: false });
  }

  /** Adds the entries of the records up to `next`, in the topic's order. */
  add(partition: number, next: number, entries: readonly ReadEntry<T>[]): void {
    const state = this.#partitions.get(partition);
    if (state === undefined) return;
    for (const entry of entries) {
      this.#entries.push({ ...entry, partition, number: this.#count });
      this.#count += 1;
      this.#bytes += entry.bytes;
    }
    state.next = Math.max(state.next, next);
    state.isCaughtUp ||= state.next >= state.end;
    this.#trim();
    for (const listener of this.#listeners) listener();
  }

  /** Notes a partition's end when its reading begins: the entries below it are new to no caller who begins to watch. */
  sawEnd(partition: number, end: number): void {
    const state = this.#partitions.get(partition);
    if (state === undefined) return;
    state.end = end;
    state.isCaughtUp ||= state.next >= end;
  }

  /** Drops everything, since somebody made the topic anew. */
  clear(): void {
    this.#entries = [];
    this.#bytes = 0;
    this.#partitions.clear();
    this.#restarts += 1;
    for (const listener of this.#listeners) listener();
  }

  /** The partitions that are being read. */
  partitions(): Iterable<number> {
    return this.#partitions.keys();
  }

  /** RE2. The topic's start for a partition that is not read. */
  floorOf(partition: number): EntryPlace {
    return this.#partitions.get(partition)?.floor ?? { offset: 0, place: 0 };
  }

  /** The next offset to read. */
  nextOf(partition: number): number | undefined {
    return this.#partitions.get(partition)?.next;
  }

  /** For each partition, the place at which new entries begin. */
  now(): Map<number, EntryPlace> {
    const offsetOf = ({ next, end, isCaughtUp }: PartitionState) => (isCaughtUp ? next : Math.max(next, end));
    return new Map([...this.#partitions].map(([partition, of]) => [partition, { offset: offsetOf(of), place: 0 }]));
  }

  /** The entries from a number on; the caller has to finish before anything is added. */
  *from(number: number): Iterable<RecentEntry<T>> {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.number ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    for (let index = low; index < this.#entries.length; index += 1) {
      const entry = this.#entries[index];
      if (entry !== undefined) yield entry;
    }
  }

  /** Calls `listener` at each change until the caller calls the returned function. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** RE1. */
  #trim(): void {
    const { maxEntries, maxBytes } = this.#bounds;
    if (this.#entries.length <= maxEntries + DROP_STEP && this.#bytes <= maxBytes) return;
    let dropped = Math.max(0, this.#entries.length - maxEntries);
    let bytes = this.#bytes;
    for (const [index, entry] of this.#entries.entries()) {
      if (index >= dropped && bytes <= maxBytes) break;
      bytes -= entry.bytes;
      dropped = Math.max(dropped, index + 1);
      const state = this.#partitions.get(entry.partition);
      if (state !== undefined) state.floor = { offset: entry.offset, place: entry.place + 1 };
    }
    this.#entries.splice(0, dropped);
    this.#bytes = bytes;
  }

  #keep(isKept: (entry: RecentEntry<T>) => boolean): void {
    this.#entries = this.#entries.filter(isKept);
    this.#bytes = this.#entries.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

/**
 * The newest entries of a topic in the order in which this process read them, for those who look on as they come.
 *
 * Owns: the entries, and of each partition from where on they are held and up to where it was read.
 * RE1  It holds `maxEntries` and `maxBytes` at the most; the oldest entry goes first.
 * RE2  Of each partition it holds every entry from its floor on, up to its next offset. Whoever saw everything below a
 *      place that is not below the floor can go on from here without a gap.
 * RE3  The number of an entry rises, and no other entry ever has it.
 */

/** Where an entry stands in its partition: entries of one record are told apart by their place in it. */
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
  /** What it holds of memory, about. */
  readonly bytes: number;
}

export interface RecentBounds {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

export const RECENT_BOUNDS: RecentBounds = { maxEntries: 10_000, maxBytes: 16 * 1024 * 1024 };
/** Entries that go at a time: moving up the others costs as much for one. */
const DROP_STEP = 500;

interface PartitionState {
  floor: EntryPlace;
  /** The next offset to read. */
  next: number;
  /** The partition's end, when it was last asked for. */
  end: number;
  /** It was read up to that end once: what is read since then is new. */
  isCaughtUp: boolean;
}

export class RecentEntries<T> {
  readonly #bounds: RecentBounds;
  readonly #partitions = new Map<number, PartitionState>();
  readonly #listeners = new Set<() => void>();
  #entries: (RecentEntry<T> & { readonly bytes: number })[] = [];
  #bytes = 0;
  #count = 0;
  #incarnation = 0;
  #topicId = "";

  constructor(bounds: RecentBounds = RECENT_BOUNDS) {
    this.#bounds = bounds;
  }

  /** Of the topic: rises when it was made anew, and nothing that was seen of it before says anything any more. */
  get incarnation(): number {
    return this.#incarnation;
  }

  /** The number that the next entry will have. */
  get nextNumber(): number {
    return this.#count;
  }

  /** By its id, which is empty where that is not known: what is held of a topic that was made anew means nothing. */
  beginTopic(id: string): void {
    if (this.#topicId !== "" && id !== "" && this.#topicId !== id) this.clear();
    if (id !== "") this.#topicId = id;
  }

  /** The reading of a partition begins there, or goes on from where it stood. */
  begin(partition: number, from: number): void {
    const held = this.#partitions.get(partition);
    if (held?.next === from) return;
    this.#keep((entry) => entry.partition !== partition);
    const floor = { offset: from, place: 0 };
    this.#partitions.set(partition, { floor, next: from, end: from, isCaughtUp: false });
  }

  /** Those of records that were read up to `next`, in the topic's order. */
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

  /** What stands below a partition's end when its reading begins is not new to anybody who begins to look on. */
  sawEnd(partition: number, end: number): void {
    const state = this.#partitions.get(partition);
    if (state === undefined) return;
    state.end = end;
    state.isCaughtUp ||= state.next >= end;
  }

  /** The topic was made anew. */
  clear(): void {
    this.#entries = [];
    this.#bytes = 0;
    this.#partitions.clear();
    this.#incarnation += 1;
    for (const listener of this.#listeners) listener();
  }

  /** Partitions that are read. */
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

  /** By partition, where what comes from now on begins. */
  now(): Map<number, EntryPlace> {
    const offsetOf = ({ next, end, isCaughtUp }: PartitionState) => (isCaughtUp ? next : Math.max(next, end));
    return new Map([...this.#partitions].map(([partition, of]) => [partition, { offset: offsetOf(of), place: 0 }]));
  }

  /** Entries from a number on, to be gone through before anything is added. */
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

  /** Called at each change, until the answer is called. */
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

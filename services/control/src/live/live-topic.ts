/** A topic of the stream: entries as they are read, and what is sent of each. */
import type { Freshness } from "../http/freshness.ts";
import type { EntryPlace, RecentEntries, RecentEntry } from "../recent-entries.ts";
import type { LiveFilter, LiveTopicName } from "./live-filter.ts";
import type { TopicPosition } from "./live-position.ts";

/** An entry as one stream has it. */
export interface LiveEntry extends Omit<RecentEntry<unknown>, "value"> {
  /** The row as JSON; null for one that this stream does not show. */
  readonly row: string | null;
}

type Positions = Omit<RecentEntries<never>, "from" | "add" | "begin" | "sawEnd" | "clear">;

export interface LiveTopic {
  readonly recent: Positions;
  freshness(): Freshness;
  /** From where on a stream goes on that had everything below. */
  resumeFrom(seen: TopicPosition): Map<number, EntryPlace>;
  /** The entries from a number on, as a stream with this filter shows them. */
  select(filter: LiveFilter, from: number): Iterable<LiveEntry>;
}

/** What a stream is fed by; a topic of the stream may have several. */
export interface LiveFeed {
  readonly name: LiveTopicName;
  /** Stands for it in an id: a letter of its own. */
  readonly letter: string;
  readonly topic: LiveTopic;
}

export interface LiveTopicParts<T> {
  readonly recent: RecentEntries<T>;
  readonly freshness: () => Freshness;
  /** Asked again and again, since what may be seen changes. */
  readonly shows: (filter: LiveFilter) => (value: T) => boolean;
  /** As the topic's list has it; null for what is no more. */
  readonly rowOf: (value: T, place: EntryPlace) => object | null;
  /** Where a stream goes on that had everything below a place; there by default. */
  readonly resumeFrom?: (seen: EntryPlace) => EntryPlace;
}

export function createLiveTopic<T>({ recent, freshness, shows, rowOf, resumeFrom }: LiveTopicParts<T>): LiveTopic {
  return {
    recent,
    freshness,
    resumeFrom: (seen) => new Map([...seen].map(([partition, place]) => [partition, resumeFrom?.(place) ?? place])),
    *select(filter, from) {
      const isShown = shows(filter);
      for (const entry of recent.from(from)) {
        const { number, partition, offset, place, value } = entry;
        const row = isShown(value) ? rowOf(value, entry) : null;
        yield { number, partition, offset, place, row: row === null ? null : JSON.stringify(row) };
      }
    },
  };
}

/** Makes a row once, however many streams send it. */
export function remembered<T extends object, Row extends object>(rowOf: (value: T) => Row): (value: T) => Row {
  const rows = new WeakMap<T, Row>();
  return (value) => {
    const held = rows.get(value);
    if (held !== undefined) return held;
    const row = rowOf(value);
    rows.set(value, row);
    return row;
  };
}

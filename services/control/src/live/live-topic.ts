/** A topic of the stream: entries as they are read, and what is sent of each. */
import type { Freshness } from "../http/freshness.ts";
import type { EntryPlace, RecentEntries, RecentEntry } from "../recent-entries.ts";
import type { LiveFilter } from "./live-filter.ts";

/** An entry as one stream has it. */
export interface LiveEntry extends Omit<RecentEntry<unknown>, "value"> {
  /** The row as JSON; null for one that this stream does not show. */
  readonly row: string | null;
}

type Positions = Omit<RecentEntries<never>, "from" | "add" | "begin" | "sawEnd" | "clear">;

export interface LiveTopic {
  readonly recent: Positions;
  freshness(): Freshness;
  /** The entries from a number on, as a stream with this filter shows them. */
  select(filter: LiveFilter, from: number): Iterable<LiveEntry>;
}

export interface LiveTopicParts<T> {
  readonly recent: RecentEntries<T>;
  readonly freshness: () => Freshness;
  /** Asked again and again, since what may be seen changes. */
  readonly shows: (filter: LiveFilter) => (value: T) => boolean;
  /** As the topic's list has it; null for what is no more. */
  readonly rowOf: (value: T, place: EntryPlace) => object | null;
}

export function createLiveTopic<T>({ recent, freshness, shows, rowOf }: LiveTopicParts<T>): LiveTopic {
  return {
    recent,
    freshness,
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

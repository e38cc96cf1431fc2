/** A feed of the event stream: the entries as control reads them, and the row that a stream sends of each. */
import type { Freshness } from "@posthaste/core/freshness";
import type { EntryPlace, RecentEntries, RecentEntry } from "@posthaste/kafka/log/recent-entries";
import type { LiveFilter, LiveTopicName } from "./live-filter.ts";
import type { TopicPosition } from "./live-position.ts";

/** An entry as one stream sends it. */
export interface LiveEntry extends Omit<RecentEntry<unknown>, "value"> {
  /** The row as JSON; null where this stream does not show the entry. */
  readonly row: string | null;
}

type Positions = Omit<RecentEntries<never>, "from" | "add" | "begin" | "sawEnd" | "clear">;

export interface LiveTopic {
  readonly recent: Positions;
  freshness(): Freshness;
  /** The places at which a stream goes on that has sent everything below `seen`. */
  resumeFrom(seen: TopicPosition): Map<number, EntryPlace>;
  /** The entries from the number `from` on, as a stream with this filter sends them. */
  select(filter: LiveFilter, from: number): Iterable<LiveEntry>;
}

/** A feed of a stream; a live topic may have several. */
export interface LiveFeed {
  readonly name: LiveTopicName;
  /** The letter that stands for the feed in an event's id; no other feed has it. */
  readonly letter: string;
  readonly topic: LiveTopic;
}

export interface LiveTopicParts<T> {
  readonly recent: RecentEntries<T>;
  readonly freshness: () => Freshness;
  /** Asked for at each look, since it changes which entries a stream may show. */
  readonly shows: (filter: LiveFilter) => (value: T) => boolean;
  /** The row as the list of the same name shows it; null where the thing no longer exists. */
  readonly rowOf: (value: T, place: EntryPlace) => object | null;
  /** The place at which a stream goes on that has sent everything below `seen`; by default that place itself. */
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

/** Makes `rowOf` compute a value's row once, however many streams send it. */
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

/**
 * The log of unrouted events, packed into one record for each source and flush, so that each event of a source that is
 * switched off costs a fraction of a record.
 *
 * No event waits for the log (rule PK1 of packed-log.ts): its offset may be committed before its entry is written. The
 * event itself stays in the events topic for as long as the entry would.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { Log } from "@posthaste/core/log";
import type { UnroutedEvent, UnroutedEvents } from "@posthaste/core/routing/unrouted-event";
import { PackedLog } from "@posthaste/kafka/producer/packed-log";
import type { Producer } from "@posthaste/kafka/producer/producer";

/** The most destination ids of an entry, so that it stays small where a source has a thousand destinations. */
export const MAX_DESTINATION_IDS = 20;

const FLUSH_INTERVAL_MS = 1000;
/** The most entries of one record: about 100 KB of short ids. More in one second begin another record. */
const FLUSH_EVENTS = 500;
/** The most characters of ids and names in one record; a broker takes a record of 1 MB. */
const FLUSH_LENGTH = 200_000;
const MAX_PENDING_BYTES = 8 * 1024 * 1024;

export interface UnroutedLogOptions {
  readonly producer: Producer;
  readonly topic: string;
  readonly codec: Codec<UnroutedEvents>;
  readonly nowMs: () => number;
  readonly log: Log;
  /** Called with the number of events whose entries were not written. */
  readonly onDropped: (events: number) => void;
}

/** A packed log of unrouted events, by source. */
export interface UnroutedLog {
  readonly add: (sourceId: string, event: UnroutedEvent) => void;
  /** See `close` of packed-log.ts. */
  readonly close: () => Promise<void>;
}

export function createUnroutedLog({ producer, topic, codec, nowMs, log, onDropped }: UnroutedLogOptions): UnroutedLog {
  const packed = new PackedLog<UnroutedEvent, string>({
    producer,
    topic,
    encode: (events, sourceId) => codec.encode({ sourceId, unroutedAtMs: nowMs(), events }),
    flushIntervalMs: FLUSH_INTERVAL_MS,
    flushEntries: FLUSH_EVENTS,
    flushLength: FLUSH_LENGTH,
    maxPendingBytes: MAX_PENDING_BYTES,
    onDropped: (events, error) => {
      if (error !== null) log.warn({ event: "unrouted_not_written", err: error, events });
      onDropped(events);
    },
  });
  return {
    add: (sourceId, event) => packed.add(sourceId, event, lengthOf(event)),
    close: () => packed.close(),
  };
}

function lengthOf({ messageId, userKey, event, destinationIds }: UnroutedEvent): number {
  const names = messageId.length + (userKey?.length ?? 0) + (event?.length ?? 0);
  return destinationIds.reduce((length, id) => length + id.length, names);
}

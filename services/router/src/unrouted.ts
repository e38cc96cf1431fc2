/**
 * Events that became no delivery, packed: one record for each source and flush, so that a source that is switched off
 * costs a fraction of a record an event.
 *
 * Nothing waits for it (rule PK1 of packed-log.ts): an event's offset may be committed before its entry is written. The
 * event itself stands in the events topic for as long as the entry would.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { EventType } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import type { UnroutedCause } from "@posthaste/core/routing/routing";
import { PackedLog } from "@posthaste/kafka/producer/packed-log";
import type { Producer } from "@posthaste/kafka/producer/producer";

/** One entry of `schemas/unrouted-events.avsc`. */
export interface UnroutedEvent {
  readonly messageId: string;
  readonly type: EventType;
  readonly cause: UnroutedCause;
  readonly originPartition: number;
  readonly originOffset: number;
  /** The user id, else the anonymous id, else the message id; shortened. Null for a suppressed user's event. */
  readonly userKey: string | null;
  /** track: the event's name; page, screen: the name; shortened. Null for a suppressed user's event. */
  readonly event: string | null;
  readonly receivedAtMs: number;
  /** The config offset that the routing table stood at. */
  readonly configOffset: number;
  /**
   * Of `destination_off` and `integrations`: the destinations that would have taken the event, up to
   * `MAX_DESTINATION_IDS` of them; else none.
   */
  readonly destinationIds: readonly string[];
  /** Of a duplicate: the offset of the first, in the same partition; else null. */
  readonly firstOffset: number | null;
  /** Of `integrations`: the entry of the event's map that decided; else null. */
  readonly integration: string | null;
}

/** So that an entry stays small where a source has a thousand destinations. */
export const MAX_DESTINATION_IDS = 20;

/** The record of `schemas/unrouted-events.avsc`. */
export interface UnroutedEvents {
  readonly sourceId: string;
  readonly unroutedAtMs: number;
  readonly events: readonly UnroutedEvent[];
}

const FLUSH_INTERVAL_MS = 1000;
/** About 100 KB of short ids: a record of its own before the second is over. */
const FLUSH_EVENTS = 500;
/** Characters of ids and names in one record; a broker takes 1 MB. */
const FLUSH_LENGTH = 200_000;
const MAX_PENDING_BYTES = 8 * 1024 * 1024;

export interface UnroutedLogOptions {
  readonly producer: Producer;
  readonly topic: string;
  readonly codec: Codec<UnroutedEvents>;
  readonly nowMs: () => number;
  readonly log: Log;
  /** So many events were not written. */
  readonly onDropped: (events: number) => void;
}

/** A packed log of events by their source. */
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

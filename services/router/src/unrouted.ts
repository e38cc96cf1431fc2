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
}

/** The record of `schemas/unrouted-events.avsc`. */
export interface UnroutedEvents {
  readonly sourceId: string;
  readonly unroutedAtMs: number;
  readonly events: readonly UnroutedEvent[];
}

const FLUSH_INTERVAL_MS = 1000;
/** About 60 KB: a record of its own before the second is over. */
const FLUSH_EVENTS = 500;
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
export type UnroutedLog = Pick<PackedLog<UnroutedEvent, string>, "add" | "close">;

export function createUnroutedLog({ producer, topic, codec, nowMs, log, onDropped }: UnroutedLogOptions): UnroutedLog {
  return new PackedLog<UnroutedEvent, string>({
    producer,
    topic,
    encode: (events, sourceId) => codec.encode({ sourceId, unroutedAtMs: nowMs(), events }),
    flushIntervalMs: FLUSH_INTERVAL_MS,
    flushEntries: FLUSH_EVENTS,
    flushLength: Number.POSITIVE_INFINITY,
    maxPendingBytes: MAX_PENDING_BYTES,
    onDropped: (events, error) => {
      if (error !== null) log.warn({ event: "unrouted_not_written", err: error, events });
      onDropped(events);
    },
  });
}

/**
 * Events that became no delivery, packed: one record for each source and flush, so that a switched-off source costs a
 * fraction of a record an event.
 *
 * Owns: what is not flushed yet, a timer, and nothing else; the producer is its caller's.
 * U1  Nothing waits for it: an event's offset may be committed before its entry is written. The event itself stands in
 *     the events topic for as long as the entry would.
 * U2  At most `MAX_PENDING_BYTES` wait for the brokers; what comes beyond is counted and dropped.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { EventType } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import type { UnroutedCause } from "@posthaste/core/routing/routing";
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
  readonly onDropped: (events: number) => void;
}

export interface UnroutedLog {
  readonly add: (sourceId: string, event: UnroutedEvent) => void;
  /**
   * Hands what waits to the producer before it returns, and resolves when that was written or given up: close the
   * producer next to it, for that has an end.
   */
  readonly close: () => Promise<void>;
}

export function createUnroutedLog(options: UnroutedLogOptions): UnroutedLog {
  const { producer, topic, codec, nowMs, log, onDropped } = options;
  const waiting = new Map<string, UnroutedEvent[]>();
  let sending: Promise<void> = Promise.resolve();

  const write = (sourceId: string, events: readonly UnroutedEvent[]): void => {
    if (producer.pendingBytes > MAX_PENDING_BYTES) {
      onDropped(events.length);
      return;
    }
    const value = codec.encode({ sourceId, unroutedAtMs: nowMs(), events });
    sending = producer.send([{ topic, key: sourceId, value }]).catch((error: unknown) => {
      log.warn({ event: "unrouted_not_written", err: error, events: events.length });
      onDropped(events.length);
    });
  };
  const flush = (): void => {
    for (const [sourceId, events] of waiting) write(sourceId, events);
    waiting.clear();
  };
  const timer = setInterval(flush, FLUSH_INTERVAL_MS);

  return {
    add: (sourceId, event) => {
      const events = waiting.get(sourceId);
      if (events === undefined) {
        waiting.set(sourceId, [event]);
        return;
      }
      events.push(event);
      if (events.length < FLUSH_EVENTS) return;
      write(sourceId, events);
      waiting.delete(sourceId);
    },
    close: async () => {
      clearInterval(timer);
      flush();
      await sending;
    },
  };
}

/**
 * A receiver's requests of a load: each event once or more, and the events that came after later ones of their user.
 * Pure.
 */
import type { ReceivedRequest } from "@posthaste/testkit/receiver";
import { createTimeline, type Timeline } from "./timeline.ts";

/** An event of `load.ts` that came. */
export interface Arrival {
  readonly messageId: string;
  readonly userId: string;
  readonly sequence: number;
  readonly atMs: number;
}

export interface Arrivals {
  readonly deliveries: Timeline;
  readonly note: (arrival: Arrival) => void;
  /** The same from a request that comes now. */
  readonly record: (request: ReceivedRequest) => void;
  readonly has: (messageId: string) => boolean;
  /** Events that came at least once. */
  readonly delivered: () => number;
  /** Requests beyond the first of their event. */
  readonly repeated: () => number;
  /** The same by message id: how often each event came again. */
  readonly repeats: ReadonlyMap<string, number>;
  /** Message ids of events that first came after a later one of their user. */
  readonly late: ReadonlySet<string>;
}

export interface ArrivalsOptions {
  /** The prefix of the load's message ids; others count for nothing: ids of a load before, that come again. */
  readonly only?: string;
  /** An event came once more. */
  readonly onRepeat?: (messageId: string) => void;
}

export function createArrivals({ only = "", onRepeat }: ArrivalsOptions = {}): Arrivals {
  const deliveries = createTimeline();
  const seen = new Set<string>();
  const lastSequence = new Map<string, number>();
  const repeats = new Map<string, number>();
  const late = new Set<string>();
  const note = ({ messageId, userId, sequence, atMs }: Arrival): void => {
    if (!messageId.startsWith(only)) return;
    deliveries.mark(atMs);
    if (seen.has(messageId)) {
      repeats.set(messageId, (repeats.get(messageId) ?? 0) + 1);
      onRepeat?.(messageId);
      return;
    }
    seen.add(messageId);
    if (sequence < (lastSequence.get(userId) ?? -1)) late.add(messageId);
    else lastSequence.set(userId, sequence);
  };
  return {
    deliveries,
    note,
    record: (request) => note(arrivalOf(request, performance.now())),
    has: (messageId) => seen.has(messageId),
    delivered: () => seen.size,
    repeated: () => [...repeats.values()].reduce((sum, times) => sum + times, 0),
    repeats,
    late,
  };
}

export function arrivalOf({ headers, body }: ReceivedRequest, atMs: number): Arrival {
  const { userId, properties } = JSON.parse(body.toString("utf8")) as {
    userId: string;
    properties: { sequence: number };
  };
  return { messageId: headers["x-message-id"] ?? "", userId, sequence: properties.sequence, atMs };
}

/** What a receiver got of a load: each event once or more, and whether each user's events came in order. */
import type { ReceivedRequest } from "@posthaste/testkit/receiver";
import { createTimeline, type Timeline } from "./timeline.ts";

export interface Arrivals {
  readonly deliveries: Timeline;
  readonly record: (request: ReceivedRequest) => void;
  readonly has: (messageId: string) => boolean;
  /** Events that came at least once. */
  readonly delivered: () => number;
  /** Requests beyond the first of their event. */
  readonly repeated: () => number;
  /** Users of whom an event first came after a later one of theirs. */
  readonly disordered: () => number;
}

export interface ArrivalsOptions {
  /** What the message ids of the load begin with; others count for nothing: those of a load before, that come again. */
  readonly only?: string;
  /** An event came once more. */
  readonly onRepeat?: (messageId: string) => void;
}

export function createArrivals({ only = "", onRepeat }: ArrivalsOptions = {}): Arrivals {
  const deliveries = createTimeline();
  const seen = new Set<string>();
  const lastSequence = new Map<string, number>();
  const disordered = new Set<string>();
  let repeated = 0;
  return {
    deliveries,
    record: (request) => {
      const messageId = request.headers["x-message-id"] ?? "";
      if (!messageId.startsWith(only)) return;
      deliveries.mark(performance.now());
      if (seen.has(messageId)) {
        repeated += 1;
        onRepeat?.(messageId);
        return;
      }
      seen.add(messageId);
      const { userId, properties } = JSON.parse(request.body.toString("utf8")) as {
        userId: string;
        properties: { sequence: number };
      };
      if (properties.sequence < (lastSequence.get(userId) ?? -1)) disordered.add(userId);
      else lastSequence.set(userId, properties.sequence);
    },
    has: (messageId) => seen.has(messageId),
    delivered: () => seen.size,
    repeated: () => repeated,
    disordered: () => disordered.size,
  };
}

/** The event stream: entries from now on, or from where an earlier stream ended. */
import type { Clock } from "@posthaste/core/time";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route, StreamedAnswer } from "@posthaste/http-kit/route";
import { askedFrom, LIVE_TOPIC_NAMES, liveQuery } from "./live-filter.ts";
import { liveEvents } from "./live-stream.ts";
import type { OpenFeeds } from "./live-topics.ts";

/** The ms between two heartbeats. A client that gets nothing for two of these knows that its stream is dead. */
const HEARTBEAT_MS = 5000;
/** The most streams that one process serves at a time. */
const MAX_STREAMS = 100;

export interface LiveRoutesOptions {
  readonly openFeeds: OpenFeeds;
  readonly onOpen: (streams: number) => void;
  readonly clock: Clock;
  /** For tests. */
  readonly bounds?: { readonly maxStreams?: number };
}

export function liveRoutes({ openFeeds, onOpen, clock, bounds = {} }: LiveRoutesOptions): Route[] {
  const { maxStreams = MAX_STREAMS } = bounds;
  let streams = 0;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/live",
      operation: "openLive",
      summary: "What comes from now on, as server-sent events: rows as the lists of its topics have them",
      query: liveQuery,
      isLong: "watching",
      answer: {
        status: 200,
        description:
          `Events named after their topic (${LIVE_TOPIC_NAMES.join(", ")}), of which each has a row; beat, every 5 s; ` +
          "reset, where the id that was sent goes too far back: load the lists again.",
        streams: ["text/event-stream"],
      },
      refusals: ["not_found"],
      handle: async ({ query, head, signal }) => {
        const { topics, filter } = askedFrom(query);
        if (streams >= maxStreams) {
          throw new Problem("too_many_requests", `there are ${maxStreams} streams at this process`, [], {
            "retry-after": "5",
          });
        }
        // Counted before the first await: a client that leaves meanwhile, or is refused, is counted down again all the
        // same.
        streams += 1;
        onOpen(streams);
        signal.addEventListener("abort", () => {
          streams -= 1;
          onOpen(streams);
        });
        const feeds = await openFeeds(topics, filter, signal);
        for (const { name, topic } of feeds) {
          if (![...topic.recent.partitions()].length)
            throw new Problem("unavailable", `${name}: not read yet: try again soon`);
        }
        const lastId = head.lastEventId ?? query.lastEventId;
        return new StreamedAnswer({
          mediaType: "text/event-stream",
          fileName: null,
          chunks: liveEvents({ feeds, filter, lastId, heartbeatMs: HEARTBEAT_MS, signal, clock }),
        });
      },
    }),
  ];
}

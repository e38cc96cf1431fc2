/**
 * The feeds of the live topic `calls`: the calls of one source, taken and rejected, as the list of its calls shows
 * them.
 */
import { UNKNOWN_SOURCE_ID } from "@posthaste/core/call/source-activity";
import { isEventSuppressed, type SuppressedUsers } from "@posthaste/core/deletion/suppression";
import { refusedRequestFromEntry } from "@posthaste/read-model/activity-entry";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { rejectedCallFromEntry } from "@posthaste/read-model/rejected-call-entry";
import type { EventTail } from "../../configuration/sources/event-tail.ts";
import type { TailedEvent } from "../../configuration/sources/newest-events.ts";
import { type FindSources, sourceOf } from "../../configuration/sources/source-access.ts";
import { viewRefused, viewRejected, viewTaken } from "../../configuration/sources/source-call-view.ts";
import { createLiveTopic, type LiveFeed, remembered } from "./live-topic.ts";

export interface LiveCallsParts {
  readonly sources: FindSources;
  readonly readModel: Pick<ReadModel, "recent" | "freshness">;
  readonly tail: Pick<EventTail, "watch">;
  /** The users whose events no stream shows. */
  readonly suppressed: SuppressedUsers;
}

export type OpenCalls = (sourceId: string, signal: AbortSignal) => Promise<readonly LiveFeed[]>;

/**
 * Opens the feeds of a stream, which live until `signal` is aborted. Throws the Problem `not_found`, and the Problems
 * of `EventTail.watch`.
 */
export function createOpenCalls({ sources, readModel, tail, suppressed }: LiveCallsParts): OpenCalls {
  const name = "calls";
  const rejected = createLiveTopic<ProjectionEntry>({
    recent: readModel.recent.rejected_calls,
    freshness: () => readModel.freshness("rejected_calls"),
    shows: (filter) => (entry) => entry.destinationId === filter.sourceId,
    rowOf: remembered((entry) => viewRejected(rejectedCallFromEntry(entry), entry)),
  });
  const refused = createLiveTopic<ProjectionEntry>({
    recent: readModel.recent.refused_requests,
    freshness: () => readModel.freshness("refused_requests"),
    shows: (filter) => (entry) => entry.destinationId === filter.sourceId && entry.kind === "request",
    rowOf: remembered((entry) => viewRefused(refusedRequestFromEntry(entry), entry)),
  });
  return async (sourceId, signal) => {
    if (sourceId !== UNKNOWN_SOURCE_ID) await sourceOf(sourceId, sources);
    const taken = createLiveTopic<TailedEvent>({
      ...(await tail.watch(sourceId, signal)),
      shows:
        () =>
        ({ event }) =>
          !isEventSuppressed(suppressed, event),
      rowOf: viewTaken,
    });
    return [
      { name, letter: "t", topic: taken },
      { name, letter: "j", topic: rejected },
      { name, letter: "f", topic: refused },
    ];
  };
}

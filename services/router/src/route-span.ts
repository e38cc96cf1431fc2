/** The span of an event in the router: from its decoded record to the acknowledgement of its deliveries. */
import { traceparentIn, withTraceparent } from "@posthaste/contracts/trace-header";
import type { Event } from "@posthaste/core/event/event";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { StartedSpan, Traces } from "@posthaste/runtime/traces";

export interface TracedRoute {
  readonly record: IncomingRecord;
  readonly routed: readonly OutgoingRecord[];
  readonly send: (records: readonly OutgoingRecord[]) => Promise<void>;
}

/** Sends an event's deliveries with the event's span in their headers. The span of what is never sent has no end. */
export function sendTraced(traces: Traces, event: Event, { record, routed, send }: TracedRoute): Promise<void> {
  const span = startSpan(traces, event, record);
  return send(withTraceparent(routed, span.traceparent)).then(() =>
    span.end({ "posthaste.outcome": "routed", "posthaste.deliveries": routed.length }),
  );
}

/** Traces an event that becomes no delivery; `cause` says why. */
export function traceUnrouted(
  traces: Traces,
  event: Event,
  { record, cause }: { readonly record: IncomingRecord; readonly cause: string },
): void {
  startSpan(traces, event, record).end({ "posthaste.outcome": cause });
}

function startSpan(traces: Traces, { messageId, sourceId, type }: Event, { headers }: IncomingRecord): StartedSpan {
  return traces.start({
    name: "route",
    kind: "consumer",
    parent: traceparentIn(headers),
    attributes: { "posthaste.message_id": messageId, "posthaste.source_id": sourceId, "posthaste.type": type },
  });
}

/**
 * The span of an attempt: from the start of its requests to its settlement. It has no URL, no header and no body.
 *
 * XP1  It is part of the trace of its event, and links to the span of the event: a trace has the attempts of many
 *      events where they came in one call.
 * XP2  A delivery that came without a trace begins one with its first attempt, and its retries belong to that.
 */
import type { StartedSpan, Traces } from "@posthaste/runtime/traces";
import type { AttemptReport } from "@posthaste/webhook/report";
import type { CheckedDelivery } from "../check/checked-delivery.ts";

/** `attempt` counts from 1. */
export function startAttemptSpan(traces: Traces, { task, delivery }: CheckedDelivery, attempt: number): StartedSpan {
  const { item } = task;
  const { messageId, sourceId, destinationId } = delivery;
  const span = traces.start({
    name: "attempt",
    kind: "client",
    parent: item.traceparent,
    link: item.traceparent,
    attributes: {
      "posthaste.message_id": messageId,
      "posthaste.source_id": sourceId,
      "posthaste.destination_id": destinationId,
      "posthaste.attempt": attempt,
    },
  });
  item.traceparent ??= span.traceparent;
  return span;
}

/** Ends the span; the error of an attempt that did not deliver is the first URL's error or status. */
export function endAttemptSpan(span: StartedSpan, { settlement, urls }: AttemptReport): void {
  const { outcome } = settlement;
  const told = urls.find((url) => url.outcome === outcome) ?? urls[0];
  const status = told?.status;
  span.end(
    {
      "posthaste.outcome": outcome,
      "posthaste.requests": urls.length,
      ...(status ? { "http.response.status_code": status } : {}),
    },
    outcome === "delivered" ? undefined : (told?.error ?? String(status ?? outcome)),
  );
}

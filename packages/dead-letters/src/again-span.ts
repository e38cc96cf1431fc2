/**
 * The span of a delivery that is sent again. It begins a trace, since hours may have passed, and links to the trace of
 * the record that is sent again.
 */
import { traceparentIn, withTraceparent } from "@posthaste/contracts/trace-header";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { Traces } from "@posthaste/runtime/traces";

export interface SentAgain {
  /** The record that is sent again: a dead letter, or a delivery. */
  readonly from: Pick<IncomingRecord, "headers">;
  readonly name: "replay" | "resend";
  /** The id of the replay or the resend. */
  readonly replayId: string;
  readonly destinationId: string;
  readonly messageId: string;
}

/** Returns the record with the span in its headers. */
export function tracedAgain(traces: Traces, record: OutgoingRecord, terms: SentAgain): OutgoingRecord {
  const span = traces.start({
    name: terms.name,
    kind: "producer",
    link: traceparentIn(terms.from.headers),
    attributes: {
      "posthaste.replay_id": terms.replayId,
      "posthaste.message_id": terms.messageId,
      "posthaste.destination_id": terms.destinationId,
    },
  });
  span.end();
  const [traced = record] = withTraceparent([record], span.traceparent);
  return traced;
}

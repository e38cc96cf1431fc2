/** The span of a request whose calls go to the brokers: from its parse to its answer. Only while traces are on. */
import { withTraceparent } from "@posthaste/contracts/trace-header";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import type { StartedSpan, Traces } from "@posthaste/runtime/traces";
import type { Answer } from "../answer/answer.ts";

export interface CallSpanTerms {
  readonly sourceId: string;
  readonly calls: number;
  /** In ms since the epoch. */
  readonly receivedAtMs: number;
  /** The caller's header, as it came. */
  readonly traceparent: string | undefined;
}

export function startCallSpan(traces: Traces, terms: CallSpanTerms): StartedSpan {
  return traces.start({
    name: "ingest",
    kind: "server",
    parent: terms.traceparent,
    startedAtMs: terms.receivedAtMs,
    attributes: { "posthaste.source_id": terms.sourceId, "posthaste.calls": terms.calls },
  });
}

/** Returns the records with the span in the headers of the events; the records of rejected calls stay as they are. */
export function tracedEvents(
  records: readonly OutgoingRecord[],
  eventsTopic: string,
  { traceparent }: StartedSpan,
): readonly OutgoingRecord[] {
  const events = records.filter(({ topic }) => topic === eventsTopic);
  const others = records.filter(({ topic }) => topic !== eventsTopic);
  return [...withTraceparent(events, traceparent), ...others];
}

export function endCallSpan(span: StartedSpan, answer: Answer): void {
  if (answer.accepted) span.end({ "posthaste.answer": "accepted" });
  else span.end({ "posthaste.answer": answer.answer }, answer.code);
}

/**
 * Taking calls: from a parsed body to acknowledged records.
 *
 * A1  `taken` is answered only after every in-sync replica has every event of the request, and its rejected calls.
 * A2  What waits for the brokers is bounded: over the bound, or while nothing was acknowledged for 5 s, requests are refused
 *     before they cost memory.
 * A3  A good call is not refused for its neighbours: a batch's bad calls are named in the answer and kept in a topic.
 */
import { type Batch, parseBatch } from "@posthaste/core/batch";
import type { CallOrigin, CallType } from "@posthaste/core/call";
import type { JsonObject } from "@posthaste/core/json-fragment";
import type { Log } from "@posthaste/core/log";
import type { Source } from "@posthaste/core/source";
import type { Clock } from "@posthaste/core/time";
import type { Producer } from "@posthaste/kafka/producer";
import { type AcknowledgeParts, createAcknowledge } from "./acknowledge.ts";
import { type AdmitParts, createAdmittance } from "./admit.ts";
import { type Answer, malformed, type Refusal, TAKEN, tooLarge, unavailable } from "./answer.ts";
import { countCalls, type IngestMetrics } from "./metrics.ts";
import { type CallSorterParts, createCallSorter } from "./sort-calls.ts";

export interface AcceptParts extends AdmitParts, AcknowledgeParts, CallSorterParts {
  readonly producer: Pick<Producer, "send" | "pendingBytes" | "oldestPendingMs">;
  readonly clock: Clock;
  readonly makeMessageId: () => string;
  readonly metrics: IngestMetrics;
  readonly log: Log;
}

/** One request, as far as taking its calls needs it. */
export interface CallRequest {
  /** The body's JSON, and how many bytes it was after decompression. */
  readonly body: JsonObject;
  readonly bodyBytes: number;
  /** The key outside of the body, which stands over the one in it. */
  readonly writeKey: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

export interface Accept {
  /** What a request is answered without a look into its body, which would cost most of what taking it does; null most of the time (A2). */
  busy(): Refusal | null;
  /** One call whose path names its type. */
  single(type: CallType, request: CallRequest): Promise<Answer>;
  /** `{"batch": [...]}` with what stands for all of its calls beside it. */
  batch(request: CallRequest): Promise<Answer>;
}

const NOT_ACKNOWLEDGED = unavailable(
  "not_acknowledged",
  "The brokers have not acknowledged the calls in time; send them again with the same messageIds.",
);

export function createAccept(parts: AcceptParts): Accept {
  const { producer, clock, metrics, log } = parts;
  const { busy, admit } = createAdmittance(parts);
  const acknowledge = createAcknowledge(parts);
  const sorter = createCallSorter(parts);

  const refuse = (refusal: Refusal, calls = 1): Refusal => {
    countCalls(metrics, refusal.answer, calls);
    return refusal;
  };

  const originOf = (source: Source, request: CallRequest, batch: Batch | null): CallOrigin => ({
    sourceId: source.id,
    receivedAtMs: clock.nowMs(),
    sentAtMs: batch?.sentAtMs ?? null,
    context: batch?.context ?? null,
    integrations: batch?.integrations ?? null,
    ip: request.ip,
    userAgent: request.userAgent,
    makeMessageId: parts.makeMessageId,
  });

  return {
    busy,

    single: async (type, request) => {
      const admitted = admit(writeKeyOf(request), 1);
      const admission = admitted instanceof Promise ? await admitted : admitted;
      if ("refusal" in admission) return refuse(admission.refusal);
      const sorted = sorter.single(request.body, type, originOf(admission.source, request, null), request.bodyBytes);
      if ("record" in sorted) {
        if (!(await acknowledge([sorted.record]))) return refuse(NOT_ACKNOWLEDGED);
        countCalls(metrics, "accepted", 1);
        return TAKEN;
      }
      const { code, message } = sorted.refusal;
      metrics.rejectedCalls.inc({ code });
      // The caller hears of it at once; the copy for the data engineer is on its way and may be lost with this process.
      producer.send(sorted.kept).catch((error: unknown) => {
        log.warn({ event: "rejected_call_not_kept", err: error });
      });
      return refuse(code === "call_too_large" ? tooLarge(code, message) : malformed(code, message));
    },

    batch: async (request) => {
      const envelope = parseBatch(request.body);
      if (!envelope.taken) return refuse(malformed(envelope.refusal.code, envelope.refusal.message));
      const { calls } = envelope.batch;
      const count = Math.max(1, calls.length);
      const admission = await admit(writeKeyOf(request), count);
      if ("refusal" in admission) return refuse(admission.refusal, count);
      const sorted = sorter.batch(calls, originOf(admission.source, request, envelope.batch), request.bodyBytes);
      if ("status" in sorted) return refuse(sorted, count);
      const { taken, rejected, records } = sorted;
      if (records.length > 0 && !(await acknowledge(records))) return refuse(NOT_ACKNOWLEDGED, count);
      countCalls(metrics, "accepted", taken);
      countCalls(metrics, "rejected", rejected.length);
      for (const { code } of rejected) metrics.rejectedCalls.inc({ code });
      return rejected.length === 0 ? TAKEN : { taken: true, rejected };
    },
  };
}

function writeKeyOf({ writeKey, body }: CallRequest): string | null {
  const inBody = body["writeKey"];
  return writeKey ?? (typeof inBody === "string" ? inBody : null);
}

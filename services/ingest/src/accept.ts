/**
 * Taking calls: from a parsed body to acknowledged records.
 *
 * A1  `taken` is answered only after every in-sync replica has every event of the request, and its rejected calls.
 * A2  What waits for the brokers is bounded: over the bound, or while no partition took anything for 5 s, requests are refused
 *     before they cost memory, and the calls to a partition that took nothing for 5 s as soon as they are read. What a source
 *     sends is bounded too, in calls and in bytes, and a request over that is refused before anything is made of its body.
 * A3  A good call is not refused for its neighbours: a batch's bad calls are named in the answer and kept in a topic.
 * A4  Nothing is parsed for a sender without a key that is known, nor of a single call that is too large whatever is in it.
 * A5  What a body is parsed into lives no longer than its work takes, so there are as many such trees as there is long work begun
 *     (T3), however many requests are under way: what waits for the brokers is records.
 */
import type { TopicNames } from "@posthaste/contracts/topics";
import { type Batch, type BatchRefusal, parseBatch } from "@posthaste/core/call/batch";
import type { CallRefusal } from "@posthaste/core/call/call";
import type { CallArrival } from "@posthaste/core/call/call-arrival";
import type { CallType } from "@posthaste/core/call/call-schema";
import type { JsonObject } from "@posthaste/core/call/json-fragment";
import type { Source } from "@posthaste/core/config/source";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { type AcknowledgeParts, createAcknowledge } from "./acknowledge.ts";
import { type AdmitParts, type Admittance, createAdmittance } from "./admit.ts";
import { type Answer, malformed, type Refusal, TAKEN, tooLarge, unavailable } from "./answer.ts";
import type { Authentication, Authenticator } from "./authenticate.ts";
import { findWriteKeys } from "./body-key.ts";
import { ACKNOWLEDGE_TIMEOUT_MS, MAX_CALL_BYTES, MAX_SHARED_LENGTH } from "./limits.ts";
import { countCalls, type IngestMetrics } from "./metrics.ts";
import { parseBody } from "./parse-body.ts";
import type { Amount } from "./rate-limit.ts";
import { type CallSorterParts, createCallSorter } from "./sort-calls.ts";
import type { Steps } from "./work-queue.ts";

export interface AcceptParts extends AdmitParts, AcknowledgeParts, CallSorterParts {
  readonly authenticator: Pick<Authenticator, "known" | "knownOf">;
  readonly producer: Pick<Producer, "send" | "pendingBytes" | "stalledMs">;
  readonly names: Pick<TopicNames, "events" | "rejectedCalls">;
  readonly clock: Clock;
  readonly makeMessageId: () => string;
  readonly metrics: IngestMetrics;
  readonly log: Log;
}

/** One request, as far as taking its calls needs it. */
export interface CallRequest {
  /** Whose it is, by the key outside of its body; null where that has to say. */
  readonly source: Source | null;
  /** The id of the source that the request and its bytes were counted for. */
  readonly countedFor: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

export interface Accept extends Admittance {
  /** One call whose path names its type, as the bytes of its JSON after decompression. */
  single(type: CallType, body: Buffer, request: CallRequest): Answer | Promise<Answer>;
  /** One call that was no JSON text, of so many bytes if it were. */
  object(type: CallType, call: JsonObject, bytes: number, request: CallRequest): Answer | Promise<Answer>;
  /** `{"batch": [...]}` with what stands for all of its calls beside it, as bytes; in steps, since a batch may be long (T3). */
  batch(body: Buffer, request: CallRequest): Steps<Answer>;
}

const NOT_ACKNOWLEDGED = unavailable(
  "not_acknowledged",
  "The brokers have not acknowledged the calls in time; send them again with the same messageIds.",
);

export function createAccept(parts: AcceptParts): Accept {
  const { producer, clock, metrics, log, authenticator, acknowledgeTimeoutMs = ACKNOWLEDGE_TIMEOUT_MS } = parts;
  const admittance = createAdmittance(parts);
  const { busy, count, pending } = admittance;
  const acknowledge = createAcknowledge(parts);
  const sorter = createCallSorter(parts);

  const refuse = (refusal: Refusal, calls = 1): Refusal => {
    countCalls(metrics, refusal.answer, calls);
    return refusal;
  };

  const originOf = (source: Source, request: CallRequest, batch: Batch | null): CallArrival => ({
    sourceId: source.id,
    receivedAtMs: clock.nowMs(),
    sentAtMs: batch?.sentAtMs ?? null,
    context: batch?.context ?? null,
    integrations: batch?.integrations ?? null,
    ip: request.ip,
    userAgent: request.userAgent,
    makeMessageId: parts.makeMessageId,
  });

  /** Whose the calls of a body are, if so many of them are taken now; the first was counted with the request. */
  const admitted = (found: Authentication, request: CallRequest, sent: Amount): Authentication => {
    if ("refusal" in found) return found;
    const { source } = found;
    if (source.id === request.countedFor) {
      if (sent.calls > 1) count(source, { calls: sent.calls - 1, bytes: 0 });
      return found;
    }
    const refusal = busy(source);
    if (refusal !== null) return { refusal };
    count(source, sent);
    return found;
  };

  const senderOf = (body: JsonObject, { source }: CallRequest): Authentication =>
    source === null ? authenticator.known(writeKeyIn(body)) : { source };

  /** A5: what is waited for is this and nothing of the request. */
  const acknowledged = async (
    records: readonly OutgoingRecord[],
    { source, calls }: { source: Source; calls: number },
    taken: () => Answer,
  ): Promise<Answer> => {
    const bytes = records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    pending(source, bytes);
    const isAcknowledged = await acknowledge(records);
    pending(source, -bytes);
    return isAcknowledged ? taken() : refuse(NOT_ACKNOWLEDGED, calls);
  };

  const keep = (refusal: CallRefusal, kept: readonly OutgoingRecord[]): Refusal => {
    const { code, message } = refusal;
    metrics.rejectedCalls.inc({ code });
    // The caller hears of it at once; the copy for the data engineer is on its way and may be lost with this process.
    producer.send(kept, { patienceMs: acknowledgeTimeoutMs }).catch((error: unknown) => {
      log.warn({ event: "rejected_call_not_kept", err: error });
    });
    return refuse(code === "call_too_large" ? tooLarge(code, message) : malformed(code, message));
  };

  const object: Accept["object"] = (type, call, bytes, request) => {
    const admission = admitted(senderOf(call, request), request, { calls: 1, bytes });
    if ("refusal" in admission) return refuse(admission.refusal);
    const sorted = sorter.single(call, type, originOf(admission.source, request, null), bytes);
    if ("refusal" in sorted) return keep(sorted.refusal, sorted.kept);
    return acknowledged([sorted.record], { source: admission.source, calls: 1 }, () => {
      countCalls(metrics, "accepted", 1);
      return TAKEN;
    });
  };

  /** A single call that is too large whatever is in it: it is not parsed (A4). */
  const oversized = (body: Buffer, request: CallRequest): Refusal => {
    const { source } = request;
    const found = source === null ? authenticator.knownOf(findWriteKeys(body)) : { source };
    const admission = admitted(found, request, { calls: 1, bytes: body.length });
    if ("refusal" in admission) return refuse(admission.refusal);
    const { refusal, kept } = sorter.oversized(body, originOf(admission.source, request, null));
    return keep(refusal, kept);
  };

  return {
    ...admittance,
    object,

    single: (type, body, request) => {
      if (body.length > MAX_CALL_BYTES) return oversized(body, request);
      const parsed = parseBody(body);
      return "refusal" in parsed ? refuse(parsed.refusal) : object(type, parsed.object, body.length, request);
    },

    *batch(body, request) {
      const parsed = parseBody(body);
      if ("refusal" in parsed) return refuse(parsed.refusal);
      const envelope = parseBatch(parsed.object, MAX_SHARED_LENGTH);
      if (!envelope.accepted) return refuse(toRefusal(envelope.refusal));
      const { calls } = envelope.batch;
      const size = Math.max(1, calls.length);
      const sent: Amount = { calls: size, bytes: body.length };
      const admission = admitted(senderOf(parsed.object, request), request, sent);
      if ("refusal" in admission) return refuse(admission.refusal, size);
      const sorted = yield* sorter.batch(calls, originOf(admission.source, request, envelope.batch), body.length);
      if ("status" in sorted) return refuse(sorted, size);
      const { taken, rejected, records } = sorted;
      const answer = (): Answer => {
        countCalls(metrics, "accepted", taken);
        countCalls(metrics, "rejected", rejected.length);
        for (const { code } of rejected) metrics.rejectedCalls.inc({ code });
        return rejected.length === 0 ? TAKEN : { taken: true, rejected };
      };
      return records.length === 0 ? answer() : acknowledged(records, { source: admission.source, calls: size }, answer);
    },
  };
}

function writeKeyIn(body: JsonObject): string | null {
  const { writeKey } = body;
  return typeof writeKey === "string" ? writeKey : null;
}

function toRefusal({ code, message }: BatchRefusal): Refusal {
  return code === "shared_too_large" ? tooLarge("request_too_large", message) : malformed(code, message);
}

/**
 * Accepting calls: from a body's bytes to acknowledged records.
 *
 * AC1  A request is answered as accepted only after every in-sync replica has every event of it, and its rejected
 *      calls.
 * AC2  What waits for the brokers is bounded. Over the bound, or while no partition took anything for 5 s, requests are
 *      refused before they cost memory; the calls to a partition that took nothing for 5 s are refused as soon as they
 *      are read. What a source sends is bounded too, in calls and in bytes: a request over that is refused before
 *      anything is made of its body.
 * AC3  A good call is not refused for its neighbours: a batch's bad calls are named in the answer and kept in a topic.
 * AC4  Nothing is parsed for a sender without a key that is known, nor of a single call that is too large whatever is
 *      in it.
 * AC5  The tree that a body is parsed into lives no longer than the work on it takes. So there are as many trees as
 *      there is long work begun (QW3 of work-queue.ts), however many requests are active: what waits for the brokers is
 *      records.
 */
import type { TopicNames } from "@posthaste/contracts/topics";
import { type Batch, type BatchRefusal, parseBatch } from "@posthaste/core/call/batch";
import type { CallArrival } from "@posthaste/core/call/call-arrival";
import type { CallType } from "@posthaste/core/call/call-schema";
import type { JsonObject } from "@posthaste/core/call/json-fragment";
import type { Source } from "@posthaste/core/config/source";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { ActivityLog } from "../activity/activity-log.ts";
import {
  ACCEPTED,
  type Answer,
  malformed,
  type Refusal,
  SAYS_TOO_MUCH,
  tooLarge,
  unavailable,
} from "../answer/answer.ts";
import { openBatch } from "../body/batch-body.ts";
import { mostCalls, mostExpandedBytes, mostRefusedLength } from "../body/inflated-body.ts";
import { parseBody } from "../body/parse-body.ts";
import type { Amount } from "../fairness/rate-limit.ts";
import type { Steps } from "../fairness/work-queue.ts";
import type { Authentication, Authenticator } from "../key/authenticate.ts";
import { findWriteKeys } from "../key/body-key.ts";
import { ACKNOWLEDGE_TIMEOUT_MS, MAX_CALL_BYTES, MAX_SHARED_LENGTH } from "../limits.ts";
import { countCalls, type IngestMetrics } from "../metrics.ts";
import { Acknowledgements, type AcknowledgeParts } from "./acknowledge.ts";
import type { Admission } from "./admission.ts";
import {
  type CallSorter,
  type CallSorterParts,
  createCallSorter,
  type RefusedCall,
  type SortedCalls,
} from "./sort-calls.ts";

export interface AcceptParts extends AcknowledgeParts, CallSorterParts {
  readonly admission: Pick<Admission, "ofSource" | "countSent" | "countPending">;
  readonly authenticator: Pick<Authenticator, "known" | "knownOf">;
  readonly producer: Pick<Producer, "send">;
  readonly names: Pick<TopicNames, "events" | "rejectedCalls">;
  readonly clock: Clock;
  readonly makeMessageId: () => string;
  readonly metrics: IngestMetrics;
  readonly activity: Pick<ActivityLog, "accepted" | "rejected">;
  readonly log: Log;
}

/** One request, as far as accepting its calls needs it. */
export interface CallRequest {
  /** Whose it is, by the key outside of its body; null where the body has to say. */
  readonly source: Source | null;
  /** The id of the source that the request and its bytes were counted for. */
  readonly countedFor: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

export interface Accept {
  /** Accepts one call whose path names its type, as the bytes of its JSON after decompression. */
  single(type: CallType, body: Buffer, request: CallRequest): Answer | Promise<Answer>;
  /** Accepts one call that was no JSON text, of so many bytes if it were. */
  object(type: CallType, call: JsonObject, bytes: number, request: CallRequest): Answer | Promise<Answer>;
  /**
   * Accepts `{"batch": [...]}` with what stands for all of its calls beside it, as bytes that were `sentBytes` before
   * decompression; in steps, since a batch may be long.
   */
  batch(body: Buffer, sentBytes: number, request: CallRequest): Steps<Answer>;
}

const NOT_ACKNOWLEDGED = unavailable(
  "not_acknowledged",
  "The brokers have not acknowledged the calls in time; send them again with the same messageIds.",
);

export function createAccept(parts: AcceptParts): Accept {
  return new CallAcceptance(parts);
}

class CallAcceptance implements Accept {
  readonly #parts: AcceptParts;
  readonly #acknowledgements: Acknowledgements;
  readonly #sorter: CallSorter;

  constructor(parts: AcceptParts) {
    this.#parts = parts;
    this.#acknowledgements = new Acknowledgements(parts);
    this.#sorter = createCallSorter(parts);
  }

  single(type: CallType, body: Buffer, request: CallRequest): Answer | Promise<Answer> {
    if (body.length > MAX_CALL_BYTES) return this.#oversized(body, request);
    const parsed = parseBody(body);
    return "refusal" in parsed ? this.#refuse(parsed.refusal) : this.object(type, parsed.object, body.length, request);
  }

  object(type: CallType, call: JsonObject, bytes: number, request: CallRequest): Answer | Promise<Answer> {
    const found = this.#admit(this.#sourceOf(call, request), request, { calls: 1, bytes });
    if ("refusal" in found) return this.#refuse(found.refusal);
    const { source } = found;
    const sorted = this.#sorter.single(call, type, this.#arrivalOf(source, request, null), bytes);
    if ("refusal" in sorted) return this.#keepRejected(source, sorted);
    return this.#acknowledged([sorted.record], { source, calls: 1 }, () => {
      countCalls(this.#parts.metrics, "accepted", 1);
      this.#parts.activity.accepted(source.id, 1);
      return ACCEPTED;
    });
  }

  *batch(body: Buffer, sentBytes: number, request: CallRequest): Steps<Answer> {
    const opened = openBatch(body, sentBytes);
    if ("refusal" in opened) return this.#refuse(opened.refusal);
    const { envelope } = opened;
    const parsed = parseBatch(envelope, MAX_SHARED_LENGTH);
    if (!parsed.accepted) return this.#refuse(toRefusal(parsed.refusal));
    const { calls, integrations } = parsed.batch;
    const count = opened.countOf(calls);
    const shared = integrations === null ? 0 : Object.keys(integrations.enabled).length;
    const mostOfCalls = sentBytes < body.length ? mostCalls(sentBytes, shared) : Number.POSITIVE_INFINITY;
    if (count > mostOfCalls) return this.#refuse(SAYS_TOO_MUCH);
    const size = Math.max(1, count);
    const found = this.#admit(this.#sourceOf(envelope, request), request, { calls: size, bytes: body.length });
    if ("refusal" in found) return this.#refuse(found.refusal, size);
    const { source } = found;
    const arrival = this.#arrivalOf(source, request, parsed.batch);
    const sorted = yield* this.#sorter.batch(opened.runsOf(calls), arrival, {
      expandedBytes: mostExpandedBytes(sentBytes),
      refusedLength: mostRefusedLength(sentBytes),
      calls: mostOfCalls,
    });
    if ("status" in sorted) return this.#refuse(sorted, size);
    if (sorted.records.length === 0) return this.#answerTo(source, sorted);
    return this.#acknowledged(sorted.records, { source, calls: size }, () => this.#answerTo(source, sorted));
  }

  /** A single call that is too large whatever is in it: it is not parsed (AC4). */
  #oversized(body: Buffer, request: CallRequest): Refusal {
    const { authenticator } = this.#parts;
    const named = request.source === null ? authenticator.knownOf(findWriteKeys(body)) : { source: request.source };
    const found = this.#admit(named, request, { calls: 1, bytes: body.length });
    if ("refusal" in found) return this.#refuse(found.refusal);
    const { source } = found;
    return this.#keepRejected(source, this.#sorter.oversized(body, this.#arrivalOf(source, request, null)));
  }

  /** Whose the parsed body is: the key that counts is the parsed one. */
  #sourceOf(body: JsonObject, { source }: CallRequest): Authentication {
    return source === null ? this.#parts.authenticator.known(writeKeyIn(body)) : { source };
  }

  /**
   * Counts a body's calls for the source that they are of, if they are accepted now; the first was counted with the
   * request.
   */
  #admit(found: Authentication, { countedFor }: CallRequest, sent: Amount): Authentication {
    if ("refusal" in found) return found;
    const { admission } = this.#parts;
    const { source } = found;
    if (source.id === countedFor) {
      if (sent.calls > 1) admission.countSent(source, { calls: sent.calls - 1, bytes: 0 });
      return found;
    }
    const refusal = admission.ofSource(source);
    if (refusal !== null) return { refusal };
    admission.countSent(source, sent);
    return found;
  }

  #arrivalOf(source: Source, request: CallRequest, batch: Batch | null): CallArrival {
    return {
      sourceId: source.id,
      receivedAtMs: this.#parts.clock.nowMs(),
      sentAtMs: batch?.sentAtMs ?? null,
      context: batch?.context ?? null,
      integrations: batch?.integrations ?? null,
      ip: request.ip,
      userAgent: request.userAgent,
      makeMessageId: this.#parts.makeMessageId,
    };
  }

  /** While the brokers are waited for, these arguments are held and nothing else of the request (AC5). */
  async #acknowledged(
    records: readonly OutgoingRecord[],
    { source, calls }: { source: Source; calls: number },
    accepted: () => Answer,
  ): Promise<Answer> {
    const { admission } = this.#parts;
    let bytes = 0;
    for (const { value } of records) bytes += value?.length ?? 0;
    admission.countPending(source, bytes);
    const isAcknowledged = await this.#acknowledgements.of(records);
    admission.countPending(source, -bytes);
    return isAcknowledged ? accepted() : this.#refuse(NOT_ACKNOWLEDGED, calls);
  }

  /** The answer to a batch whose records the brokers have. */
  #answerTo({ id }: Source, { accepted, rejected }: SortedCalls): Answer {
    const { metrics, activity } = this.#parts;
    countCalls(metrics, "accepted", accepted);
    countCalls(metrics, "rejected", rejected.length);
    if (accepted > 0) activity.accepted(id, accepted);
    for (const { code } of rejected) {
      metrics.rejectedCalls.inc({ code });
      activity.rejected(id, code);
    }
    return rejected.length === 0 ? ACCEPTED : { accepted: true, rejected };
  }

  /** Refuses a single call, and keeps it in the topic of rejected calls. */
  #keepRejected(source: Source, { refusal, kept }: RefusedCall): Refusal {
    const { producer, metrics, activity, log, acknowledgeTimeoutMs = ACKNOWLEDGE_TIMEOUT_MS } = this.#parts;
    const { code, message } = refusal;
    metrics.rejectedCalls.inc({ code });
    activity.rejected(source.id, code);
    // The caller hears of it at once; the copy for the data engineer is on its way and may be lost with this process.
    producer.send(kept, { patienceMs: acknowledgeTimeoutMs }).catch((error: unknown) => {
      log.warn({ event: "rejected_call_not_kept", err: error });
    });
    const whole = code === "call_too_large" ? tooLarge(code, message) : malformed(code, message);
    return this.#refuse({ ...whole, isKept: true });
  }

  #refuse(refusal: Refusal, calls = 1): Refusal {
    countCalls(this.#parts.metrics, refusal.answer, calls);
    return refusal;
  }
}

function writeKeyIn(body: JsonObject): string | null {
  const { writeKey } = body;
  return typeof writeKey === "string" ? writeKey : null;
}

function toRefusal({ code, message }: BatchRefusal): Refusal {
  return code === "shared_too_large" ? tooLarge("request_too_large", message) : malformed(code, message);
}

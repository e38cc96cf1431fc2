/**
 * Accepting calls: from a body's bytes to acknowledged records.
 *
 * AC1  A request is answered as accepted only after every in-sync replica has each of its events and of its rejected
 *      calls.
 * AC2  The bytes that wait for the brokers are bounded. Over the bound, or while no partition took anything for 5 s,
 *      requests are refused before they cost memory; calls for one partition that took nothing for 5 s are refused as
 *      soon as they are read. A source's calls are bounded too, in number and in bytes: a request over that bound is
 *      refused before its body is parsed.
 * AC3  A good call is not refused because of other calls: the answer names a batch's bad calls, and a topic keeps them.
 * AC4  Nothing is parsed for a sender without a known key, and no single call that is too large whatever it holds.
 * AC5  The tree that a body is parsed into lives no longer than the work on it. So there are as many trees as pieces of
 *      long work that have begun (QW3 of work-queue.ts), however many requests are active; only records wait for the
 *      brokers.
 */
import type { TopicNames } from "@posthaste/contracts/topics";
import { type Batch, type BatchRefusal, parseBatch } from "@posthaste/core/call/batch";
import { CALL_REFUSAL_STATUS } from "@posthaste/core/call/call";
import type { CallArrival } from "@posthaste/core/call/call-arrival";
import type { CallType } from "@posthaste/core/call/call-schema";
import type { JsonObject } from "@posthaste/core/call/json-fragment";
import type { Source } from "@posthaste/core/config/source";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import type { StartedSpan, Traces } from "@posthaste/runtime/traces";
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
import { endCallSpan, startCallSpan, tracedEvents } from "./call-span.ts";
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
  /** Absent while traces are off. */
  readonly traces?: Traces | undefined;
}

/** The fields of a request that accepting its calls needs. */
export interface CallRequest {
  /** The source of the key outside of the body; null where only the body has a key. */
  readonly source: Source | null;
  /** The id of the source for which the request and its bytes were counted. */
  readonly countedFor: string;
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** The caller's header of that name, as it came. */
  readonly traceparent: string | undefined;
}

/** The calls of a request whose records wait for the brokers. */
interface SentCalls {
  readonly source: Source;
  readonly calls: number;
  /** Undefined while traces are off. */
  readonly span: StartedSpan | undefined;
}

export interface Accept {
  /** Accepts one call whose path names its type, as the bytes of its JSON after decompression. */
  single(type: CallType, body: Buffer, request: CallRequest): Answer | Promise<Answer>;
  /** Accepts one call that did not come as JSON text and would have so many bytes as such. */
  object(type: CallType, call: JsonObject, bytes: number, request: CallRequest): Answer | Promise<Answer>;
  /**
   * Accepts `{"batch": [...]}` with the fields beside it, which stand for all calls. `body` is decompressed; it was
   * sent as `sentBytes`. The work is done in steps, since a batch may be long.
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
    const arrival = this.#arrivalOf(source, request, null);
    const sorted = this.#sorter.single(call, type, arrival, bytes);
    if ("refusal" in sorted) return this.#keepRejected(source, sorted);
    const span = this.#startSpan(arrival, request, 1);
    return this.#acknowledged([sorted.record], { source, calls: 1, span }, () => {
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
    const span = this.#startSpan(arrival, request, size);
    return this.#acknowledged(sorted.records, { source, calls: size, span }, () => this.#answerTo(source, sorted));
  }

  /** Refuses a single call that is too large whatever it holds, without parsing it (AC4). */
  #oversized(body: Buffer, request: CallRequest): Refusal {
    const { authenticator } = this.#parts;
    const named = request.source === null ? authenticator.knownOf(findWriteKeys(body)) : { source: request.source };
    const found = this.#admit(named, request, { calls: 1, bytes: body.length });
    if ("refusal" in found) return this.#refuse(found.refusal);
    const { source } = found;
    return this.#keepRejected(source, this.#sorter.oversized(body, this.#arrivalOf(source, request, null)));
  }

  /** The source of a parsed body; where only the body has a key, the parsed one counts. */
  #sourceOf(body: JsonObject, { source }: CallRequest): Authentication {
    return source === null ? this.#parts.authenticator.known(writeKeyIn(body)) : { source };
  }

  /**
   * Counts a body's calls for the source that they belong to, if it may send now. The request itself was counted as one
   * call of `countedFor`.
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

  /** Waits for the brokers; until then these arguments are held and nothing else of the request (AC5). */
  async #acknowledged(
    records: readonly OutgoingRecord[],
    { source, calls, span }: SentCalls,
    accepted: () => Answer,
  ): Promise<Answer> {
    const { admission, names } = this.#parts;
    const sent = span === undefined ? records : tracedEvents(records, names.events, span);
    let bytes = 0;
    for (const { value } of sent) bytes += value?.length ?? 0;
    admission.countPending(source, bytes);
    const isAcknowledged = await this.#acknowledgements.of(sent);
    admission.countPending(source, -bytes);
    const answer = isAcknowledged ? accepted() : this.#refuse(NOT_ACKNOWLEDGED, calls);
    if (span !== undefined) endCallSpan(span, answer);
    return answer;
  }

  #startSpan(
    { sourceId, receivedAtMs }: CallArrival,
    { traceparent }: CallRequest,
    calls: number,
  ): StartedSpan | undefined {
    const { traces } = this.#parts;
    return traces && startCallSpan(traces, { sourceId, calls, receivedAtMs, traceparent });
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
    // The caller is answered at once; the copy for a data engineer is on its way and may be lost with this process.
    producer.send(kept, { patienceMs: acknowledgeTimeoutMs }).catch((error: unknown) => {
      log.warn({ event: "rejected_call_not_kept", err: error });
    });
    const whole = CALL_REFUSAL_STATUS[code] === 413 ? tooLarge(code, message) : malformed(code, message);
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

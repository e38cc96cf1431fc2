/**
 * Taking calls: from a parsed body to acknowledged records.
 *
 * A1  `taken` is answered only after every in-sync replica has every event of the request, and its rejected calls.
 * A2  What waits for the brokers is bounded: over the bound, or while nothing was acknowledged for 5 s, requests are refused
 *     before they cost memory.
 * A3  A good call is not refused for its neighbours: a batch's bad calls are named in the answer and kept in a topic.
 */
import type { TopicNames } from "@posthaste/contracts/topics";
import { type Batch, parseBatch } from "@posthaste/core/batch";
import { type CallOrigin, type CallRefusal, type CallType, parseCall } from "@posthaste/core/call";
import type { Event } from "@posthaste/core/event";
import type { JsonObject } from "@posthaste/core/json-fragment";
import type { Log } from "@posthaste/core/log";
import { eventKey } from "@posthaste/core/partition-key";
import type { Source } from "@posthaste/core/source";
import type { Clock } from "@posthaste/core/time";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer";
import {
  type Answer,
  malformed,
  type Refusal,
  type RejectedCall,
  rateLimited,
  TAKEN,
  tooLarge,
  unavailable,
} from "./answer.ts";
import type { Authenticate } from "./authenticate.ts";
import { ACKNOWLEDGE_TIMEOUT_MS, MAX_CALL_BYTES, MAX_EXPANDED_BYTES, MAX_REJECTED_CALLS } from "./limits.ts";
import { countCalls, type IngestMetrics } from "./metrics.ts";
import type { RateLimit } from "./rate-limit.ts";
import { packRejectedCalls, type RejectedCallEntry, type RejectedCalls, toCallJson } from "./rejected-calls.ts";

export interface AcceptParts {
  readonly authenticate: Authenticate;
  readonly rateLimit: RateLimit;
  readonly producer: Pick<Producer, "send" | "pendingBytes" | "oldestPendingMs">;
  readonly encodeEvent: (event: Event) => Buffer;
  readonly encodeRejectedCalls: (rejected: RejectedCalls) => Buffer;
  readonly names: Pick<TopicNames, "events" | "rejectedCalls">;
  readonly clock: Clock;
  readonly makeMessageId: () => string;
  /** Bytes that may wait for the brokers (A2). */
  readonly maxPendingBytes: number;
  readonly acknowledgeTimeoutMs?: number;
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
  /** One call whose path names its type. */
  single(type: CallType, request: CallRequest): Promise<Answer>;
  /** `{"batch": [...]}` with what stands for all of its calls beside it. */
  batch(request: CallRequest): Promise<Answer>;
}

/** What the calls of one request came to. */
interface Sorted {
  readonly records: OutgoingRecord[];
  readonly rejected: RejectedCall[];
  readonly entries: RejectedCallEntry[];
  /** Bytes of the records' values. */
  bytes: number;
}

const REPEATED_CONTEXT = tooLarge(
  "request_too_large",
  "The batch's context, repeated in each of its calls, makes it too large; send smaller batches or less context.",
);
const TOO_MANY_REJECTED = malformed(
  "too_many_rejected_calls",
  `More than ${MAX_REJECTED_CALLS} calls of the batch cannot be taken, so none was; check what is sent.`,
);
const BUSY = unavailable("unavailable", "More calls arrive than the brokers take at the moment; send again.");
const NOT_ACKNOWLEDGED = unavailable(
  "not_acknowledged",
  "The brokers have not acknowledged the calls in time; send them again with the same messageIds.",
);
const CALL_TOO_LARGE: CallRefusal = {
  code: "call_too_large",
  message: `A call may have at most ${MAX_CALL_BYTES} bytes; shorten its properties, traits or context.`,
};

export function createAccept(parts: AcceptParts): Accept {
  const { authenticate, rateLimit, producer, clock, metrics, log } = parts;
  const acknowledgeTimeoutMs = parts.acknowledgeTimeoutMs ?? ACKNOWLEDGE_TIMEOUT_MS;

  const refuse = (refusal: Refusal, calls = 1): Refusal => {
    countCalls(metrics, refusal.answer, calls);
    return refusal;
  };

  /** The source, or why its calls are not taken now. */
  const admit = async (request: CallRequest, calls: number): Promise<Source | Refusal> => {
    if (producer.pendingBytes > parts.maxPendingBytes || producer.oldestPendingMs > acknowledgeTimeoutMs) return BUSY;
    const bodyKey = request.body["writeKey"];
    const writeKey = request.writeKey ?? (typeof bodyKey === "string" ? bodyKey : null);
    const found = authenticate(writeKey);
    const authentication = found instanceof Promise ? await found : found;
    if ("refusal" in authentication) return authentication.refusal;
    const waitMs = rateLimit.take(authentication.source.id, calls);
    return waitMs > 0 ? rateLimited(Math.ceil(waitMs / 1000)) : authentication.source;
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

  const toRecord = (event: Event): OutgoingRecord => ({
    topic: parts.names.events,
    key: eventKey(event.sourceId, event),
    value: parts.encodeEvent(event),
  });

  const reject = (sorted: Sorted, index: number, call: unknown, { code, message }: CallRefusal): void => {
    metrics.rejectedCalls.inc({ code });
    sorted.rejected.push({ index, code, message });
    sorted.entries.push({ rejectedAtMs: clock.nowMs(), code, message, index, callJson: toCallJson(call) });
  };

  const rejectedRecords = (source: Source, entries: readonly RejectedCallEntry[]): OutgoingRecord[] =>
    packRejectedCalls(source.id, entries).map((rejected) => ({
      topic: parts.names.rejectedCalls,
      key: source.id,
      value: parts.encodeRejectedCalls(rejected),
    }));

  /** True once every record is acknowledged; false when that takes too long (the records may still be written later). */
  const acknowledged = (records: readonly OutgoingRecord[]): Promise<boolean> => {
    const startedMs = clock.monotonicMs();
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), acknowledgeTimeoutMs);
      producer.send(records).then(
        () => {
          clearTimeout(timer);
          metrics.acknowledgeSeconds.observe((clock.monotonicMs() - startedMs) / 1000);
          resolve(true);
        },
        (error: unknown) => {
          clearTimeout(timer);
          log.warn({ event: "send_refused", err: error });
          resolve(false);
        },
      );
    });
  };

  return {
    single: async (type, request) => {
      const admitted = await admit(request, 1);
      if (isRefusal(admitted)) return refuse(admitted);
      const parsed =
        request.bodyBytes > MAX_CALL_BYTES
          ? { taken: false as const, refusal: CALL_TOO_LARGE }
          : parseCall(request.body, type, originOf(admitted, request, null));
      if (parsed.taken) {
        if (!(await acknowledged([toRecord(parsed.event)]))) return refuse(NOT_ACKNOWLEDGED);
        countCalls(metrics, "accepted", 1);
        return TAKEN;
      }
      const { code, message } = parsed.refusal;
      const sorted: Sorted = { records: [], rejected: [], entries: [], bytes: 0 };
      reject(sorted, 0, request.body, parsed.refusal);
      // The caller hears of it at once; the copy for the data engineer is on its way and may be lost with this process.
      producer.send(rejectedRecords(admitted, sorted.entries)).catch((error: unknown) => {
        log.warn({ event: "rejected_call_not_kept", err: error });
      });
      return refuse(code === "call_too_large" ? tooLarge(code, message) : malformed(code, message));
    },

    batch: async (request) => {
      const envelope = parseBatch(request.body);
      if (!envelope.taken) return refuse(malformed(envelope.refusal.code, envelope.refusal.message));
      const { calls } = envelope.batch;
      const admitted = await admit(request, Math.max(1, calls.length));
      if (isRefusal(admitted)) return refuse(admitted, Math.max(1, calls.length));
      const origin = originOf(admitted, request, envelope.batch);
      const mayExceed = request.bodyBytes > MAX_CALL_BYTES;
      const sorted: Sorted = { records: [], rejected: [], entries: [], bytes: 0 };
      for (const [index, call] of calls.entries()) {
        const refusal = mayExceed && exceedsCallLimit(call) ? CALL_TOO_LARGE : takeCall(sorted, call, origin);
        if (refusal !== null) reject(sorted, index, call, refusal);
        if (sorted.bytes > MAX_EXPANDED_BYTES) return refuse(REPEATED_CONTEXT, calls.length);
        if (sorted.rejected.length > MAX_REJECTED_CALLS) return refuse(TOO_MANY_REJECTED, calls.length);
      }
      const records = [...sorted.records, ...rejectedRecords(admitted, sorted.entries)];
      if (records.length > 0 && !(await acknowledged(records))) return refuse(NOT_ACKNOWLEDGED, calls.length);
      countCalls(metrics, "accepted", sorted.records.length);
      if (sorted.rejected.length === 0) return TAKEN;
      countCalls(metrics, "rejected", sorted.rejected.length);
      return { taken: true, rejected: sorted.rejected };
    },
  };

  function takeCall(sorted: Sorted, call: unknown, origin: CallOrigin): CallRefusal | null {
    const parsed = parseCall(call, null, origin);
    if (!parsed.taken) return parsed.refusal;
    const record = toRecord(parsed.event);
    sorted.records.push(record);
    sorted.bytes += record.value?.length ?? 0;
    return null;
  }
}

function isRefusal(value: Source | Refusal): value is Refusal {
  return "taken" in value;
}

/** A call of a batch is measured as compact JSON, since its own bytes are not known apart from the others'. */
function exceedsCallLimit(call: unknown): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(call)) > MAX_CALL_BYTES;
  } catch (error) {
    // Nested too deep to be written; parsing says so.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The calls of a request, sorted into the records of the good ones and the reasons against the others. */
import type { TopicNames } from "@posthaste/contracts/topics";
import { type CallOrigin, type CallRefusal, type CallType, parseCall } from "@posthaste/core/call";
import type { Event } from "@posthaste/core/event";
import { eventKey } from "@posthaste/core/partition-key";
import type { OutgoingRecord } from "@posthaste/kafka/producer";
import { malformed, type Refusal, type RejectedCall, tooLarge } from "./answer.ts";
import { MAX_CALL_BYTES, MAX_EVENT_BYTES, MAX_EXPANDED_BYTES, MAX_REJECTED_CALLS } from "./limits.ts";
import { packRejectedCalls, type RejectedCallEntry, type RejectedCalls, toCallJson } from "./rejected-calls.ts";

export interface CallSorterParts {
  readonly encodeEvent: (event: Event) => Buffer;
  readonly encodeRejectedCalls: (rejected: RejectedCalls) => Buffer;
  readonly names: Pick<TopicNames, "events" | "rejectedCalls">;
}

export interface SortedCalls {
  readonly taken: number;
  readonly rejected: readonly RejectedCall[];
  /** The events in the order of the calls, then the rejected calls with their reasons. */
  readonly records: readonly OutgoingRecord[];
}

export interface CallSorter {
  /** One call whose path names its type; its record, or the reason against it and the record that keeps it. */
  single(call: unknown, type: CallType, origin: CallOrigin, bytes: number): SortedCall;
  /** The calls of a batch of so many bytes, or why the batch as a whole cannot be taken. */
  batch(calls: readonly unknown[], origin: CallOrigin, bytes: number): SortedCalls | Refusal;
}

export type SortedCall =
  | { readonly record: OutgoingRecord }
  | { readonly refusal: CallRefusal; readonly kept: readonly OutgoingRecord[] };

const CALL_TOO_LARGE: CallRefusal = {
  code: "call_too_large",
  message: `A call may have at most ${MAX_CALL_BYTES} bytes; shorten its properties, traits or context.`,
};
const EVENT_TOO_LARGE: CallRefusal = {
  code: "call_too_large",
  message: `A call may have at most ${MAX_EVENT_BYTES} bytes with its batch's context in it; shorten the context.`,
};
const REPEATED_CONTEXT = tooLarge(
  "request_too_large",
  "The batch's context, repeated in each of its calls, makes it too large; send smaller batches or less context.",
);
const TOO_MANY_REJECTED = malformed(
  "too_many_rejected_calls",
  `More than ${MAX_REJECTED_CALLS} calls of the batch cannot be taken, so none was; check what is sent.`,
);

export function createCallSorter({ encodeEvent, encodeRejectedCalls, names }: CallSorterParts): CallSorter {
  /** The record of a good call, or the reason against it. */
  const toRecord = (call: unknown, type: CallType | null, origin: CallOrigin): OutgoingRecord | CallRefusal => {
    const parsed = parseCall(call, type, origin);
    if (!parsed.taken) return parsed.refusal;
    const { event } = parsed;
    const value = encodeEvent(event);
    if (value.length > MAX_EVENT_BYTES) return EVENT_TOO_LARGE;
    return { topic: names.events, key: eventKey(event.sourceId, event), value };
  };

  const toRejectedRecords = (sourceId: string, entries: readonly RejectedCallEntry[]): OutgoingRecord[] =>
    packRejectedCalls(sourceId, entries).map((rejected) => ({
      topic: names.rejectedCalls,
      key: sourceId,
      value: encodeRejectedCalls(rejected),
    }));

  return {
    single: (call, type, origin, bytes) => {
      const record = bytes > MAX_CALL_BYTES ? CALL_TOO_LARGE : toRecord(call, type, origin);
      if (!isCallRefusal(record)) return { record };
      return { refusal: record, kept: toRejectedRecords(origin.sourceId, [toEntry(record, 0, call, origin)]) };
    },

    batch: (calls, origin, bytes) => {
      const mayExceed = bytes > MAX_CALL_BYTES;
      const records: OutgoingRecord[] = [];
      const rejected: RejectedCall[] = [];
      const entries: RejectedCallEntry[] = [];
      let expandedBytes = 0;
      for (const [index, call] of calls.entries()) {
        const record = mayExceed && exceedsCallLimit(call) ? CALL_TOO_LARGE : toRecord(call, null, origin);
        if (isCallRefusal(record)) {
          rejected.push({ index, code: record.code, message: record.message });
          entries.push(toEntry(record, index, call, origin));
          if (rejected.length > MAX_REJECTED_CALLS) return TOO_MANY_REJECTED;
        } else {
          records.push(record);
          expandedBytes += record.value?.length ?? 0;
          if (expandedBytes > MAX_EXPANDED_BYTES) return REPEATED_CONTEXT;
        }
      }
      const taken = records.length;
      return { taken, rejected, records: [...records, ...toRejectedRecords(origin.sourceId, entries)] };
    },
  };
}

function isCallRefusal(value: OutgoingRecord | CallRefusal): value is CallRefusal {
  return "code" in value;
}

function toEntry({ code, message }: CallRefusal, index: number, call: unknown, origin: CallOrigin): RejectedCallEntry {
  return { rejectedAtMs: origin.receivedAtMs, code, message, index, callJson: toCallJson(call) };
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

/** The calls of a request, sorted into the records of the good ones and the reasons against the others. */
import type { TopicNames } from "@posthaste/contracts/topics";
import { type CallRefusal, parseCall } from "@posthaste/core/call/call";
import type { CallArrival } from "@posthaste/core/call/call-arrival";
import type { CallType } from "@posthaste/core/call/call-schema";
import { isJsonObject } from "@posthaste/core/call/json-fragment";
import type { RejectedCallEntry, RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { Event } from "@posthaste/core/event/event";
import { eventKey } from "@posthaste/core/routing/partition-key";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { malformed, type Refusal, type RejectedCall, tooLarge } from "../answer/answer.ts";
import {
  MAX_CALL_BYTES,
  MAX_REJECTED_CALLS,
  MERGED_KEY_BYTES,
  SHARED_KEY_BYTES,
  STEP_BYTES,
  STEP_CALLS,
} from "../limits.ts";
import { toRejectedCall } from "./rejected-call.ts";
import { cutCallJson, packRejectedCalls, toCallJson } from "./rejected-calls.ts";

export interface CallSorterParts {
  readonly encodeEvent: (event: Event) => Buffer;
  readonly encodeRejectedCalls: (rejected: RejectedCalls) => Buffer;
  readonly names: Pick<TopicNames, "events" | "rejectedCalls">;
}

export interface SortedCalls {
  readonly accepted: number;
  readonly rejected: readonly RejectedCall[];
  /** The events in the order of the calls, then the rejected calls with their reasons. */
  readonly records: readonly OutgoingRecord[];
}

export interface BatchSize {
  /** Of its body after decompression. */
  readonly bytes: number;
  /** What the events may have that are made of it. */
  readonly maxExpandedBytes: number;
}

export interface CallSorter {
  /** One call whose path names its type; its record, or the reason against it and the record that keeps it. */
  single(call: unknown, type: CallType, arrival: CallArrival, bytes: number): SortedCall;
  /** One call of which no more is known than that it is too large. */
  oversized(body: Buffer, arrival: CallArrival): RefusedCall;
  /**
   * The calls of a batch, or why the batch as a whole cannot be accepted; in steps of about a millisecond.
   */
  batch(calls: readonly unknown[], arrival: CallArrival, size: BatchSize): Generator<void, SortedCalls | Refusal>;
}

export interface RefusedCall {
  readonly refusal: CallRefusal;
  readonly kept: readonly OutgoingRecord[];
}

export type SortedCall = { readonly record: OutgoingRecord } | RefusedCall;

const CALL_TOO_LARGE: CallRefusal = {
  code: "call_too_large",
  message: `A call may have at most ${MAX_CALL_BYTES} bytes; shorten its properties, traits or context.`,
};
const REPEATED_CONTEXT = tooLarge(
  "request_too_large",
  "The batch's context, repeated in each of its calls, makes it too large; send smaller batches or less context.",
);
const TOO_MANY_REJECTED = malformed(
  "too_many_rejected_calls",
  `More than ${MAX_REJECTED_CALLS} calls of the batch cannot be taken, so none was; check what is sent.`,
);

export function createCallSorter(parts: CallSorterParts): CallSorter {
  return new RecordSorter(parts);
}

class RecordSorter implements CallSorter {
  readonly #parts: CallSorterParts;

  constructor(parts: CallSorterParts) {
    this.#parts = parts;
  }

  single(call: unknown, type: CallType, arrival: CallArrival, bytes: number): SortedCall {
    const record = bytes > MAX_CALL_BYTES ? CALL_TOO_LARGE : this.#toRecord(call, type, arrival);
    if (!isCallRefusal(record)) return { record };
    const entry = toRejectedCall(record, { call, callJson: toCallJson(call), index: null }, arrival);
    return { refusal: record, kept: this.#toRejectedRecords(arrival.sourceId, [entry]) };
  }

  oversized(body: Buffer, arrival: CallArrival): RefusedCall {
    const callJson = cutCallJson(body.toString("utf8", 0, 3 * MAX_CALL_BYTES));
    const entry = toRejectedCall(CALL_TOO_LARGE, { call: null, callJson, index: null }, arrival);
    return { refusal: CALL_TOO_LARGE, kept: this.#toRejectedRecords(arrival.sourceId, [entry]) };
  }

  *batch(
    calls: readonly unknown[],
    arrival: CallArrival,
    { bytes, maxExpandedBytes }: BatchSize,
  ): Generator<void, SortedCalls | Refusal> {
    const mayExceed = bytes > MAX_CALL_BYTES;
    const records: OutgoingRecord[] = [];
    const rejected: RejectedCall[] = [];
    const entries: RejectedCallEntry[] = [];
    const shared = measureShared(arrival);
    let expandedBytes = 0;
    let nextStep = { index: STEP_CALLS, expandedBytes: STEP_BYTES };
    for (const [index, call] of calls.entries()) {
      if (index >= nextStep.index || expandedBytes >= nextStep.expandedBytes) {
        yield;
        nextStep = { index: index + STEP_CALLS, expandedBytes: expandedBytes + STEP_BYTES };
      }
      const json = mayExceed ? jsonOf(call) : null;
      const isTooLarge = json !== null && Buffer.byteLength(json) > MAX_CALL_BYTES;
      const record = isTooLarge ? CALL_TOO_LARGE : this.#toRecord(call, null, arrival);
      if (isCallRefusal(record)) {
        rejected.push({ index, code: record.code, message: record.message });
        const callJson = json === null ? toCallJson(call) : cutCallJson(json);
        entries.push(toRejectedCall(record, { call, callJson, index }, arrival));
        if (rejected.length > MAX_REJECTED_CALLS) return TOO_MANY_REJECTED;
        // The depth is found after the call was put together with what its batch shares: it cost as much as a good
        // call.
        if (record.code === "nested_too_deep") expandedBytes += shared.bytes;
      } else {
        records.push(record);
        expandedBytes += record.value?.length ?? 0;
      }
      expandedBytes += shared.integrationBytes(call);
      if (expandedBytes > maxExpandedBytes) return REPEATED_CONTEXT;
    }
    const kept = this.#toRejectedRecords(arrival.sourceId, entries);
    return { accepted: records.length, rejected, records: [...records, ...kept] };
  }

  /** The record of a good call, or the reason against the call. */
  #toRecord(call: unknown, type: CallType | null, arrival: CallArrival): OutgoingRecord | CallRefusal {
    const { encodeEvent, names } = this.#parts;
    const parsed = parseCall(call, type, arrival);
    if (!parsed.accepted) return parsed.refusal;
    const { event } = parsed;
    return { topic: names.events, key: eventKey(event.sourceId, event), value: encodeEvent(event) };
  }

  #toRejectedRecords(sourceId: string, entries: readonly RejectedCallEntry[]): readonly OutgoingRecord[] {
    if (entries.length === 0) return [];
    const { encodeRejectedCalls, names } = this.#parts;
    return packRejectedCalls(sourceId, entries).map((rejected) => ({
      topic: names.rejectedCalls,
      key: sourceId,
      value: encodeRejectedCalls(rejected),
    }));
  }
}

function isCallRefusal(value: OutgoingRecord | CallRefusal): value is CallRefusal {
  return "code" in value;
}

/** What a batch's context and integrations cost in each call. */
function measureShared({ context, integrations }: CallArrival) {
  const keys = integrations === null ? 0 : Object.keys(integrations.enabled).length;
  return {
    bytes: context?.json.length ?? 0,
    /** By the integrations that are written as they are, or put together with the call's own. */
    integrationBytes: (call: unknown): number => {
      if (keys === 0 || !isJsonObject(call)) return 0;
      const own = call["integrations"];
      return keys * (isJsonObject(own) && Object.keys(own).length > 0 ? MERGED_KEY_BYTES : SHARED_KEY_BYTES);
    },
  };
}

/**
 * A call of a batch is measured as compact JSON, since its own bytes are not known apart from the others'. Null where
 * it is nested too deep to be written; parsing says so.
 */
function jsonOf(call: unknown): string | null {
  try {
    return JSON.stringify(call);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Sorts the calls of a request into records of the good ones and the reasons against the others. */
import type { TopicNames } from "@posthaste/contracts/topics";
import { type CallRefusal, NESTED_TOO_DEEP, parseCall } from "@posthaste/core/call/call";
import type { CallArrival } from "@posthaste/core/call/call-arrival";
import type { CallType } from "@posthaste/core/call/call-schema";
import { isJsonObject } from "@posthaste/core/call/json-fragment";
import type { RejectedCallEntry, RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { Event } from "@posthaste/core/event/event";
import { eventKey } from "@posthaste/core/routing/partition-key";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { malformed, type Refusal, type RejectedCall, SAYS_TOO_MUCH, tooLarge } from "../answer/answer.ts";
import type { CallRun, UnparsedCall } from "../body/batch-body.ts";
import { REFUSED_CALL } from "../body/inflated-body.ts";
import { ownStrings } from "../body/string-member.ts";
import {
  MAX_CALL_BYTES,
  MAX_REJECTED_CALLS,
  MERGED_KEY_BYTES,
  SHARED_KEY_BYTES,
  STEP_BYTES,
  STEP_CALLS,
} from "../limits.ts";
import { REPORTED_FIELDS, toRejectedCall } from "./rejected-call.ts";
import { cutCallJson, packRejectedCalls, toCallJson } from "./rejected-calls.ts";

export interface CallSorterParts {
  readonly encodeEvent: (event: Event) => Buffer;
  readonly encodeRejectedCalls: (rejected: RejectedCalls) => Buffer;
  readonly names: Pick<TopicNames, "events" | "rejectedCalls">;
}

export interface SortedCalls {
  readonly accepted: number;
  readonly rejected: readonly RejectedCall[];
  /** The records of the events in the order of their calls, then the records of the rejected calls. */
  readonly records: readonly OutgoingRecord[];
}

export interface CallSorter {
  /** Sorts one call whose path names its type: its record, or the reason against it and the records that keep it. */
  single(call: unknown, type: CallType, arrival: CallArrival, bytes: number): SortedCall;
  /** Refuses one call of which only its size is known. */
  oversized(body: Buffer, arrival: CallArrival): RefusedCall;
  /** Sorts the calls of a batch, or answers why the whole batch is refused; in steps of about a millisecond. */
  batch(
    runs: Iterable<CallRun | { readonly refusal: Refusal }>,
    arrival: CallArrival,
    most: BatchBounds,
  ): Generator<void, SortedCalls | Refusal>;
}

/** How much may be made of a batch. */
export interface BatchBounds {
  /** The most bytes of its events. */
  readonly expandedBytes: number;
  /** The most UTF-16 units that are kept of its refused calls. */
  readonly refusedLength: number;
  /** The most calls, where a refused call counts as `REFUSED_CALL`. */
  readonly calls: number;
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

/** The result of a batch's calls, as far as they were looked at. */
interface BatchSoFar {
  readonly records: OutgoingRecord[];
  readonly rejected: RejectedCall[];
  readonly entries: RejectedCallEntry[];
  expandedBytes: number;
  refusedLength: number;
  calls: number;
}

type SharedCost = ReturnType<typeof measureShared>;

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
    const entry = unparsedEntry(CALL_TOO_LARGE, { body, index: null }, arrival);
    return { refusal: CALL_TOO_LARGE, kept: this.#toRejectedRecords(arrival.sourceId, [entry]) };
  }

  *batch(
    runs: Iterable<CallRun | { readonly refusal: Refusal }>,
    arrival: CallArrival,
    most: BatchBounds,
  ): Generator<void, SortedCalls | Refusal> {
    const batch: BatchSoFar = { records: [], rejected: [], entries: [], expandedBytes: 0, refusedLength: 0, calls: 0 };
    const shared = measureShared(arrival);
    for (const run of runs) {
      if ("refusal" in run) return run.refusal;
      if ("unparsed" in run) {
        const refusal = this.#rejectUnparsed(batch, run, arrival);
        if (refusal !== null) return refusal;
      } else {
        let nextStep = { index: STEP_CALLS, expandedBytes: batch.expandedBytes + STEP_BYTES };
        for (const [index, call] of run.calls.entries()) {
          if (index >= nextStep.index || batch.expandedBytes >= nextStep.expandedBytes) {
            yield;
            nextStep = { index: index + STEP_CALLS, expandedBytes: batch.expandedBytes + STEP_BYTES };
          }
          const refusal = this.#sort(batch, { call, isLarge: run.isLarge }, { arrival, shared });
          if (refusal !== null) return refusal;
          if (batch.expandedBytes > most.expandedBytes) return REPEATED_CONTEXT;
          if (refusesTooMuch(batch, most)) return SAYS_TOO_MUCH;
        }
      }
      if (refusesTooMuch(batch, most)) return SAYS_TOO_MUCH;
      yield;
    }
    const { records, rejected, entries } = batch;
    const kept = this.#toRejectedRecords(arrival.sourceId, entries);
    return { accepted: records.length, rejected, records: [...records, ...kept] };
  }

  /** Sorts the next call of a batch. Returns why the whole batch is refused, or null. */
  #sort(
    batch: BatchSoFar,
    { call, isLarge }: { readonly call: unknown; readonly isLarge: boolean },
    { arrival, shared }: { readonly arrival: CallArrival; readonly shared: SharedCost },
  ): Refusal | null {
    // The size is the size of the call as `JSON.stringify` writes it, without blanks and needless escapes.
    const json = isLarge ? JSON.stringify(call) : null;
    const isTooLarge = json !== null && Buffer.byteLength(json) > MAX_CALL_BYTES;
    const record = isTooLarge ? CALL_TOO_LARGE : this.#toRecord(call, null, arrival);
    batch.expandedBytes += shared.integrationBytes(call);
    if (!isCallRefusal(record)) {
      batch.records.push(record);
      batch.expandedBytes += record.value?.length ?? 0;
      batch.calls++;
      return null;
    }
    const callJson = json === null ? toCallJson(call) : cutCallJson(json);
    const entry = toRejectedCall(record, { call, callJson, index: batch.calls }, arrival);
    const refusal = this.#reject(batch, record, entry);
    // The depth is found only after the call was merged with its batch's shared fields, so the call cost as much as a
    // good one.
    if (record.code === "nested_too_deep") batch.expandedBytes += shared.bytes;
    return refusal;
  }

  #rejectUnparsed(batch: BatchSoFar, { unparsed, unfitness }: UnparsedCall, arrival: CallArrival): Refusal | null {
    const reason = unfitness === "call_too_large" ? CALL_TOO_LARGE : NESTED_TOO_DEEP;
    return this.#reject(batch, reason, unparsedEntry(reason, { body: unparsed, index: batch.calls }, arrival));
  }

  /** Notes a refused call. Returns why the whole batch is refused, or null. */
  #reject(batch: BatchSoFar, { code, message }: CallRefusal, entry: RejectedCallEntry): Refusal | null {
    batch.rejected.push({ index: batch.calls, code, message });
    batch.entries.push(entry);
    batch.refusedLength += entry.callJson.length;
    batch.calls++;
    return batch.rejected.length > MAX_REJECTED_CALLS ? TOO_MANY_REJECTED : null;
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

/** Whether the refused calls of a batch cost more than they may. */
function refusesTooMuch({ calls, rejected, refusedLength }: BatchSoFar, most: BatchBounds): boolean {
  return refusedLength > most.refusedLength || calls + (REFUSED_CALL - 1) * rejected.length > most.calls;
}

/** The entry of a call that was not parsed. */
function unparsedEntry(
  reason: CallRefusal,
  { body, index }: { readonly body: Buffer; readonly index: number | null },
  arrival: CallArrival,
): RejectedCallEntry {
  const callJson = cutCallJson(body.toString("utf8", 0, 3 * MAX_CALL_BYTES));
  return toRejectedCall(reason, { call: ownStrings(body, REPORTED_FIELDS), callJson, index }, arrival);
}

function isCallRefusal(value: OutgoingRecord | CallRefusal): value is CallRefusal {
  return "code" in value;
}

/** The cost of a batch's context and integrations in each of its calls. */
function measureShared({ context, integrations }: CallArrival) {
  const keys = integrations === null ? 0 : Object.keys(integrations.enabled).length;
  return {
    bytes: context?.json.length ?? 0,
    /** The bytes that a call's integrations count for: the batch's own, or those merged with the call's. */
    integrationBytes: (call: unknown): number => {
      if (keys === 0 || !isJsonObject(call)) return 0;
      const own = call["integrations"];
      return keys * (isJsonObject(own) && Object.keys(own).length > 0 ? MERGED_KEY_BYTES : SHARED_KEY_BYTES);
    },
  };
}

/**
 * The one parser of callers' input: untrusted JSON in, an event or a refusal out.
 *
 * It is lenient where real clients differ (null for absent, numbers as ids, unknown fields) and refuses ambiguous
 * input.
 */
import type { z } from "zod";
import type { Event } from "../event/event.ts";
import type { CallArrival } from "./call-arrival.ts";
import { toCallFragments } from "./call-fragments.ts";
import { CALL_SCHEMAS, CALL_TYPES, type CallFields, type CallType, isCallType } from "./call-schema.ts";
import { isJsonObject, type JsonObject, MAX_NESTING, objectOf } from "./json-fragment.ts";
import { mergedIntegrations } from "./shared-fields.ts";
import { correctTimestamp, parseTimestamp } from "./timestamps.ts";
import { toWellFormed } from "./well-formed.ts";

/** Why a call is not accepted. The codes are public, and they are values of a metric's label. */
export const CALL_REFUSALS = [
  "not_an_object",
  "unknown_type",
  "missing_user",
  "missing_event",
  "invalid_field",
  "invalid_timestamp",
  "nested_too_deep",
  "call_too_large",
] as const;

/** The HTTP status with which ingest refuses a single call. A call of a batch has none of its own. */
export const CALL_REFUSAL_STATUS: Readonly<Record<(typeof CALL_REFUSALS)[number], 400 | 413>> = {
  not_an_object: 400,
  unknown_type: 400,
  missing_user: 400,
  missing_event: 400,
  invalid_field: 400,
  invalid_timestamp: 400,
  nested_too_deep: 400,
  call_too_large: 413,
};

export interface CallRefusal {
  readonly code: (typeof CALL_REFUSALS)[number];
  /** One sentence with the change that the caller should make. */
  readonly message: string;
}

export const NESTED_TOO_DEEP: CallRefusal = {
  code: "nested_too_deep",
  message: `A call may nest at most ${MAX_NESTING} objects and arrays in one another.`,
};

export type ParsedCall =
  | { readonly accepted: true; readonly event: Event }
  | { readonly accepted: false; readonly refusal: CallRefusal };

/**
 * Parses one call. `pathType` is the type that the request's path names, which overrides the call's own; null in a
 * batch.
 */
export function parseCall(call: unknown, pathType: CallType | null, arrival: CallArrival): ParsedCall {
  if (!isJsonObject(call)) return refuse("not_an_object", "A call must be a JSON object.");
  const type = pathType ?? call["type"];
  if (!isCallType(type)) {
    return refuse("unknown_type", `"type" must be one of ${CALL_TYPES.join(", ")}.`);
  }
  const checked = CALL_SCHEMAS[type].safeParse(call);
  if (!checked.success) return refuseIssue(checked.error);
  return toEvent(type, call, checked.data, arrival);
}

function toEvent(type: CallType, call: JsonObject, fields: CallFields, arrival: CallArrival): ParsedCall {
  const userId = toId(fields.userId);
  const anonymousId = toId(fields.anonymousId);
  if (userId === null && anonymousId === null) {
    return refuse("missing_user", `A call needs a "userId" or an "anonymousId" that is not empty.`);
  }
  const event = type === "track" ? toText(fields.event) : null;
  if (type === "track" && event === null) {
    return refuse("missing_event", `A track call needs the event's name in "event".`);
  }
  const time = readTime("timestamp", fields.timestamp);
  const originalTime = readTime("originalTimestamp", fields.originalTimestamp);
  if (typeof time === "object" && time !== null) return { accepted: false, refusal: time };
  if (typeof originalTime === "object" && originalTime !== null) return { accepted: false, refusal: originalTime };

  const fragments = toCallFragments(type, call, fields, arrival);
  if (fragments === null) return { accepted: false, refusal: NESTED_TOO_DEEP };
  const { sourceId, receivedAtMs } = arrival;
  const timestampMs = correctTimestamp({
    originalMs: time ?? originalTime,
    sentAtMs: arrival.sentAtMs ?? sentAtMs(fields.sentAt),
    receivedAtMs,
  });
  return {
    accepted: true,
    event: {
      messageId: toId(fields.messageId) ?? arrival.makeMessageId(),
      sourceId,
      type,
      userId,
      anonymousId,
      timestampMs,
      receivedAtMs,
      integrations: mergedIntegrations(arrival.integrations, objectOf(fields.integrations)),
      event,
      name: toText(fields.name),
      groupId: toId(fields.groupId),
      // Without a `previousId` the alias is for the visitor's anonymous id.
      previousId: type === "alias" ? (toId(fields.previousId) ?? anonymousId) : null,
      ...fragments,
    },
  };
}

/** Returns ms since the epoch, null where the call has no such time, or the refusal of a time that cannot be read. */
function readTime(field: string, value: string | null | undefined): number | null | CallRefusal {
  if (value === null || value === undefined) return null;
  const message = `"${field}" must be ISO 8601, such as 2026-11-21T03:24:17.269Z.`;
  return parseTimestamp(value) ?? { code: "invalid_timestamp", message };
}

/**
 * A `sentAt` in ms since the epoch; null when there is none that can be read. It only corrects other times, so that a
 * bad one is no reason to refuse the call.
 */
export function sentAtMs(sentAt: unknown): number | null {
  return typeof sentAt === "string" ? parseTimestamp(sentAt) : null;
}

function toId(value: string | number | null | undefined): string | null {
  if (value === null || value === undefined || value === "") return null;
  return String(value);
}

function toText(value: string | null | undefined): string | null {
  return value === null || value === undefined || value === "" ? null : toWellFormed(value);
}

function refuse(code: CallRefusal["code"], message: string): ParsedCall {
  return { accepted: false, refusal: { code, message } };
}

function refuseIssue(error: z.ZodError): ParsedCall {
  const [issue] = error.issues;
  const field = issue === undefined ? "" : issue.path.map(String).join(".");
  return refuse("invalid_field", `"${field}" ${issue?.message ?? "cannot be read"}.`);
}

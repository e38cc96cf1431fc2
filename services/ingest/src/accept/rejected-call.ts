/** The entry of a rejected call: the reason, the call, and the fields by which a person would look for it. */
import type { CallRefusal } from "@posthaste/core/call/call";
import type { CallArrival } from "@posthaste/core/call/call-arrival";
import { isJsonObject } from "@posthaste/core/call/json-fragment";
import type { RejectedCallEntry } from "@posthaste/core/call/rejected-call";
import { shortName } from "@posthaste/core/routing/short-name";

/** The fields of a call that its entry has beside the call's text. */
export const REPORTED_FIELDS = ["messageId", "userId", "anonymousId", "event", "name"] as const;

export interface RefusedCallText {
  /** The parsed call; for a call that was not parsed, its strings of `REPORTED_FIELDS`. */
  readonly call: unknown;
  readonly callJson: string;
  /** The call's index in its batch; null for a single call. */
  readonly index: number | null;
}

export function toRejectedCall(
  { code, message }: CallRefusal,
  { call, callJson, index }: RefusedCallText,
  { receivedAtMs }: Pick<CallArrival, "receivedAtMs">,
): RejectedCallEntry {
  // No field of a refused call can be relied on: each field with a wrong value is left out.
  const said = isJsonObject(call) ? call : {};
  return {
    ...{ rejectedAtMs: receivedAtMs, code, message, index: index ?? 0, callJson },
    messageId: idIn(said["messageId"]),
    userKey: idIn(said["userId"]) ?? idIn(said["anonymousId"]),
    event: nameIn(said["event"]) ?? nameIn(said["name"]),
    single: index === null,
  };
}

function nameIn(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? shortName(value) : null;
}

/** An id; a whole number stands for its decimal text, as in a call that is accepted. */
function idIn(value: unknown): string | null {
  return Number.isSafeInteger(value) ? String(value) : nameIn(value);
}

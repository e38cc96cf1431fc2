/** The entry of a call that was not accepted: the reason, the call, and by what a person would look for it. */
import type { CallRefusal } from "@posthaste/core/call/call";
import type { CallArrival } from "@posthaste/core/call/call-arrival";
import { isJsonObject } from "@posthaste/core/call/json-fragment";
import type { RejectedCallEntry } from "@posthaste/core/call/rejected-call";
import { shortName } from "@posthaste/core/routing/short-name";

/** What is told of a call beside its text, as far as it says it. */
export const TOLD_FIELDS = ["messageId", "userId", "anonymousId", "event", "name"] as const;

export interface RefusedCallText {
  /** As it was parsed; of one that was not, its strings of `TOLD_FIELDS`. */
  readonly call: unknown;
  readonly callJson: string;
  /** Its place in its batch; null for a call of its own. */
  readonly index: number | null;
}

export function toRejectedCall(
  { code, message }: CallRefusal,
  { call, callJson, index }: RefusedCallText,
  { receivedAtMs }: Pick<CallArrival, "receivedAtMs">,
): RejectedCallEntry {
  // Nothing of a call that is refused can be relied on: each field is what it should be, or is left out.
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

/** A whole number is taken for the text of it, as it is in a call that is accepted. */
function idIn(value: unknown): string | null {
  return Number.isSafeInteger(value) ? String(value) : nameIn(value);
}

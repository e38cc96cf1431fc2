/** The six calls: a caller's arguments, the message on the wire, and the refusals before a call is queued. */
import { AnalyticsError } from "./errors.ts";

/** One call as JSON may be at most 32 KB. The server counts the same bytes. */
export const MAX_CALL_BYTES = 32_768;

/** The server's rule; the length is the limit of the tracking API's own documents. */
const MESSAGE_ID = /^[\x20-\x7e]{1,100}$/;
const LIBRARY = { name: "posthaste-js", version: "0.1.0" };
/** `context` of a call that brings none: made once, since most calls bring none. */
const DEFAULT_CONTEXT = { library: LIBRARY };
const ISO_DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/;

export type CallType = "identify" | "track" | "page" | "screen" | "group" | "alias";

/** The actor: a user id, an anonymous id, or both. */
export type Identity =
  | { readonly userId: string; readonly anonymousId?: string | null | undefined }
  | { readonly userId?: string | null | undefined; readonly anonymousId: string };

/** Optional fields of every call. */
export interface CommonFields {
  /** Imports historical data. Left out, it is the time of the call. A string is ISO 8601 with an offset. */
  readonly timestamp?: Date | string | undefined;
  /** Device, page, app, locale and the like; no attributes of the user. */
  readonly context?: object | undefined;
  /** Destinations by name (case sensitive) to true or false; `All: false` turns off every one that is not named. */
  readonly integrations?: object | undefined;
  /** The caller's own idempotency key, at most 100 printable ASCII characters. Left out, it is made. */
  readonly messageId?: string | undefined;
}

export type IdentifyCall = Identity & CommonFields & { readonly traits?: object | undefined };
export type TrackCall = Identity & CommonFields & { readonly event: string; readonly properties?: object | undefined };
export type PageCall = Identity &
  CommonFields & {
    readonly category?: string | undefined;
    readonly name?: string | undefined;
    /** Recognised keys: url, title, referrer, path. */
    readonly properties?: object | undefined;
  };
export type ScreenCall = PageCall;
export type GroupCall = Identity & CommonFields & { readonly groupId: string; readonly traits?: object | undefined };
/** `userId` is the new id, `previousId` the one that is aliased from. */
export type AliasCall = CommonFields & { readonly userId: string; readonly previousId: string };

/** A call as it goes over the wire: the argument of `onError` and `onSuccess`. */
export interface Message {
  readonly type: CallType;
  readonly messageId: string;
  readonly timestamp: string;
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly previousId?: string;
  readonly groupId?: string;
  readonly event?: string;
  readonly category?: string;
  readonly name?: string;
  readonly traits?: Readonly<Record<string, unknown>>;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly integrations?: Readonly<Record<string, unknown>>;
}

/** A call made ready: its JSON, and that text's length in UTF-8. */
export interface SerializedCall {
  readonly text: string;
  readonly bytes: number;
}

/**
 * Fields that the client adds to a call that does not bring its own. Functions, so that a value is made only when it is
 * needed.
 */
export interface Defaults {
  readonly messageId: () => string;
  readonly timestamp: () => string;
}

/** The fields of all six calls, as unknown as a caller without types may have left them. */
type UncheckedCall = Readonly<Record<string, unknown>>;

/** One shape for all six types, in the order of the wire; JSON leaves undefined fields out. */
interface Draft {
  readonly type: CallType;
  readonly messageId: string;
  readonly timestamp: string;
  readonly userId: string | undefined;
  readonly anonymousId: string | undefined;
  previousId: string | undefined;
  groupId: string | undefined;
  event: string | undefined;
  category: string | undefined;
  name: string | undefined;
  traits: object | undefined;
  properties: object | undefined;
  readonly context: object;
  readonly integrations: object | undefined;
}

/**
 * Checks a call and writes it as JSON, at once: later changes of the caller's objects change nothing. Throws
 * AnalyticsError with `missing_field`, `invalid_field` or `call_too_large`, and nothing else.
 */
export function serializeCall(type: CallType, call: object, defaults: Defaults): SerializedCall {
  if (typeof call !== "object" || call === null) throw new AnalyticsError("invalid_field", `${type} takes an object`);
  const unchecked = call as UncheckedCall;
  let text: string;
  try {
    text = JSON.stringify(toDraft(type, unchecked, defaults));
  } catch (cause) {
    if (cause instanceof AnalyticsError) throw cause;
    throw notJson(type, unchecked, cause);
  }
  return { text, bytes: measure(type, text) };
}

function toDraft(type: CallType, call: UncheckedCall, defaults: Defaults): Draft {
  const userId = stringField(type, call, "userId");
  const anonymousId = stringField(type, call, "anonymousId");
  if (userId === undefined && type === "alias") throw missing(type, "userId", "a userId");
  if (userId === undefined && anonymousId === undefined) throw missing(type, "userId", "a userId or an anonymousId");
  const draft: Draft = {
    type,
    messageId: messageIdOf(type, call) ?? defaults.messageId(),
    timestamp: timestampOf(type, call["timestamp"]) ?? defaults.timestamp(),
    userId,
    anonymousId,
    previousId: undefined,
    groupId: undefined,
    event: undefined,
    category: undefined,
    name: undefined,
    traits: undefined,
    properties: undefined,
    context: contextOf(type, call),
    integrations: objectField(type, call, "integrations"),
  };
  switch (type) {
    case "identify":
      draft.traits = objectField(type, call, "traits");
      break;
    case "track":
      draft.event = requiredField(type, call, "event", "an event");
      draft.properties = objectField(type, call, "properties");
      break;
    case "page":
    case "screen":
      draft.category = stringField(type, call, "category");
      draft.name = stringField(type, call, "name");
      draft.properties = objectField(type, call, "properties");
      break;
    case "group":
      draft.groupId = requiredField(type, call, "groupId", "a groupId");
      draft.traits = objectField(type, call, "traits");
      break;
    case "alias":
      draft.previousId = requiredField(type, call, "previousId", "a previousId");
      break;
  }
  return draft;
}

/** An empty string counts as a field that was left out, as null does. */
function stringField(type: CallType, call: UncheckedCall, field: string): string | undefined {
  const value = call[field];
  if (typeof value === "string") return value === "" ? undefined : value;
  if (value === undefined || value === null) return undefined;
  throw invalid(type, field, "a string");
}

function requiredField(type: CallType, call: UncheckedCall, field: string, noun: string): string {
  const value = stringField(type, call, field);
  if (value === undefined) throw missing(type, field, noun);
  return value;
}

function objectField(type: CallType, call: UncheckedCall, field: string): object | undefined {
  const value = call[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) throw invalid(type, field, "an object");
  return value;
}

/** The caller's context with the library's name and version, unless it names a library itself. */
function contextOf(type: CallType, call: UncheckedCall): object {
  const context = objectField(type, call, "context");
  if (context === undefined) return DEFAULT_CONTEXT;
  return "library" in context ? context : { ...context, library: LIBRARY };
}

function messageIdOf(type: CallType, call: UncheckedCall): string | undefined {
  const value = stringField(type, call, "messageId");
  if (value !== undefined && !MESSAGE_ID.test(value)) {
    throw invalid(type, "messageId", "at most 100 printable ASCII characters");
  }
  return value;
}

function timestampOf(type: CallType, value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (typeof value === "string" && ISO_DATE_TIME.test(value)) return value;
  throw invalid(type, "timestamp", "an ISO 8601 date and time with an offset, as 2012-12-02T00:30:08.276Z");
}

const encoder = new TextEncoder();
/** A text that does not fit is too large: counting stops there. */
const measuring = new Uint8Array(MAX_CALL_BYTES);

/**
 * The text's length in UTF-8; throws `call_too_large` past the limit. `encodeInto` is the fastest way that all runtimes
 * have.
 */
function measure(type: CallType, text: string): number {
  const { read, written } = encoder.encodeInto(text, measuring);
  if (read === text.length) return written;
  const bytes = encoder.encode(text).length;
  throw new AnalyticsError("call_too_large", `${type} is ${bytes} bytes of JSON, ${MAX_CALL_BYTES} are allowed`);
}

function missing(type: CallType, field: string, noun: string): AnalyticsError {
  return new AnalyticsError("missing_field", `${type} needs ${noun}`, { field });
}

function invalid(type: CallType, field: string, expected: string): AnalyticsError {
  return new AnalyticsError("invalid_field", `${type}: ${field} must be ${expected}`, { field });
}

/** Names the field that JSON cannot hold: a cycle, a BigInt, or a `toJSON` or getter that throws. */
function notJson(type: CallType, call: UncheckedCall, cause: unknown): AnalyticsError {
  const field = ["traits", "properties", "context", "integrations"].find((name) => {
    try {
      JSON.stringify(call[name]);
      return false;
    } catch {
      return true;
    }
  });
  return new AnalyticsError("invalid_field", `${type}: ${field ?? "the call"} cannot be written as JSON`, {
    field,
    cause,
  });
}

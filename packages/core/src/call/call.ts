/**
 * Calls: the one parser of what callers send. Untrusted JSON in, an event or a refusal out.
 *
 * It is lenient where real clients differ (null for absent, numbers as ids, fields that it does not know) and refuses what it
 * would otherwise have to guess. A refusal's message says what to change.
 */
import { z } from "zod";
import type { Event } from "../event/event.ts";
import { isJsonObject, type JsonObject, MAX_NESTING, toFragment } from "./json-fragment.ts";
import { mergedFragment, mergedIntegrations, type SharedContext, type SharedIntegrations } from "./shared-fields.ts";
import { correctTimestamp, parseTimestamp } from "./timestamps.ts";
import { toWellFormed } from "./well-formed.ts";

/** What can be called; `delete` is made by control from a deletion request and by nobody else. */
export const CALL_TYPES = ["identify", "track", "page", "screen", "group", "alias"] as const;
export type CallType = (typeof CALL_TYPES)[number];

/** Why a call is not taken. The codes are public, and values of a metric's label. */
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

export interface CallRefusal {
  readonly code: (typeof CALL_REFUSALS)[number];
  /** One sentence that says what to change. */
  readonly message: string;
}

/** Longer ids would not fit the headers that carry them. */
const MAX_MESSAGE_ID_LENGTH = 255;

const jsonObject = z
  .unknown()
  .refine((value) => value === null || value === undefined || isJsonObject(value), "must be an object")
  .optional()
  .meta({ type: ["object", "null"] });
const id = z
  .union([z.string(), z.int()], "must be a string or a whole number")
  .nullish()
  .describe("A whole number is taken as its decimal text.");
const text = z.string("must be a string").nullish();
const timestamp = z
  .string("must be ISO 8601 text, such as 2026-11-21T03:24:17.269Z")
  .meta({ format: "date-time" })
  .nullish()
  .describe("ISO 8601; without an offset it is UTC.");

/** Fields of every call. What is not named here or in `typeFields` is kept and passed on untouched. */
const commonFields = {
  messageId: z
    .union(
      [
        z
          .string()
          .regex(/^[\x20-\x7e]*$/)
          .max(MAX_MESSAGE_ID_LENGTH),
        z.int(),
      ],
      `must be a string of at most ${MAX_MESSAGE_ID_LENGTH} printable ASCII characters`,
    )
    .nullish()
    .describe("The same id within ten minutes is taken once. Made where it is absent."),
  userId: id,
  anonymousId: id,
  timestamp: timestamp,
  originalTimestamp: timestamp,
  sentAt: z.unknown().optional().describe("The caller's clock when it sent; corrects `timestamp`."),
  context: jsonObject.describe("`ip` and `userAgent` are filled in where absent."),
  integrations: jsonObject.describe("Destination name to boolean or options object; `All` stands for every other."),
};

const typeFields = {
  identify: { traits: jsonObject },
  track: { event: text, properties: jsonObject },
  page: { name: text, properties: jsonObject },
  screen: { name: text, properties: jsonObject },
  group: { groupId: id, traits: jsonObject },
  alias: { previousId: id },
} as const;

/** The fields of a call, by type; the checks and the OpenAPI document are made from these. */
export const CALL_SCHEMAS = {
  identify: z.object({ ...commonFields, ...typeFields.identify }),
  track: z.object({ ...commonFields, ...typeFields.track }),
  page: z.object({ ...commonFields, ...typeFields.page }),
  screen: z.object({ ...commonFields, ...typeFields.screen }),
  group: z.object({ ...commonFields, ...typeFields.group }),
  alias: z.object({ ...commonFields, ...typeFields.alias }),
} satisfies Record<CallType, z.ZodObject>;

/** Any call's fields; those that its type does not have are undefined. */
interface CallFields {
  readonly messageId?: string | number | null | undefined;
  readonly userId?: string | number | null | undefined;
  readonly anonymousId?: string | number | null | undefined;
  readonly timestamp?: string | null | undefined;
  readonly originalTimestamp?: string | null | undefined;
  readonly sentAt?: unknown;
  readonly context?: unknown;
  readonly integrations?: unknown;
  readonly event?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly groupId?: string | number | null | undefined;
  readonly previousId?: string | number | null | undefined;
  readonly properties?: unknown;
  readonly traits?: unknown;
}

/** What a call came with beside itself. */
export interface CallOrigin {
  readonly sourceId: string;
  readonly receivedAtMs: number;
  /** The batch's `sentAt`, which is nearer to the sending than a call's own; null when there was none. */
  readonly sentAtMs: number | null;
  /** The batch's `context` and `integrations`: each key stands in every call that does not have it. */
  readonly context: SharedContext | null;
  readonly integrations: SharedIntegrations | null;
  /** The caller's address and `User-Agent`, for calls that do not say. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly makeMessageId: () => string;
}

export type ParsedCall =
  | { readonly taken: true; readonly event: Event }
  | { readonly taken: false; readonly refusal: CallRefusal };

/** Parses one call. `pathType` is the type that the request's path names, which stands over the call's own; null in a batch. */
export function parseCall(call: unknown, pathType: CallType | null, origin: CallOrigin): ParsedCall {
  if (!isJsonObject(call)) return refuse("not_an_object", "A call must be a JSON object.");
  const type = pathType ?? call["type"];
  if (!isCallType(type)) {
    return refuse("unknown_type", `"type" must be one of ${CALL_TYPES.join(", ")}.`);
  }
  const checked = CALL_SCHEMAS[type].safeParse(call);
  if (!checked.success) return refuseIssue(checked.error);
  return toEvent(type, call, checked.data, origin);
}

function toEvent(type: CallType, call: JsonObject, fields: CallFields, origin: CallOrigin): ParsedCall {
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
  if (typeof time === "object" && time !== null) return { taken: false, refusal: time };
  if (typeof originalTime === "object" && originalTime !== null) return { taken: false, refusal: originalTime };

  const fragments = toFragments(type, call, fields, origin);
  if (fragments === null) {
    return refuse("nested_too_deep", `A call may nest at most ${MAX_NESTING} objects and arrays in one another.`);
  }
  const { sourceId, receivedAtMs } = origin;
  const timestampMs = correctTimestamp({
    originalMs: time ?? originalTime,
    sentAtMs: origin.sentAtMs ?? sentAtMs(fields.sentAt),
    receivedAtMs,
  });
  return {
    taken: true,
    event: {
      messageId: toId(fields.messageId) ?? origin.makeMessageId(),
      sourceId,
      type,
      userId,
      anonymousId,
      timestampMs,
      receivedAtMs,
      integrations: mergedIntegrations(origin.integrations, objectOf(fields.integrations)),
      event,
      name: toText(fields.name),
      groupId: toId(fields.groupId),
      // An alias of a visitor who was anonymous so far.
      previousId: type === "alias" ? (toId(fields.previousId) ?? anonymousId) : null,
      ...fragments,
    },
  };
}

/** Ms since the epoch, null where the call has no such time, or the refusal of one that cannot be read. */
function readTime(field: string, value: string | null | undefined): number | null | CallRefusal {
  if (value === null || value === undefined) return null;
  const message = `"${field}" must be ISO 8601, such as 2026-11-21T03:24:17.269Z.`;
  return parseTimestamp(value) ?? { code: "invalid_timestamp", message };
}

type Fragments = Pick<Event, "propertiesJson" | "traitsJson" | "contextJson" | "restJson">;

/** Levels left inside of the call's own object. */
const INNER_LEVELS = MAX_NESTING - 1;

/** The caller's JSON as the event carries it; null when some of it nests too deep. */
function toFragments(type: CallType, call: JsonObject, fields: CallFields, origin: CallOrigin): Fragments | null {
  const context = objectOf(fields.context);
  const hasProperties = type === "track" || type === "page" || type === "screen";
  const hasTraits = type === "identify" || type === "group";
  const propertiesJson = hasProperties ? toFragment(fields.properties ?? {}, INNER_LEVELS) : null;
  const traitsJson = hasTraits ? toTraitsFragment(type, fields, context, origin.context) : null;
  const contextJson = toContextFragment(context, origin);
  const restJson = toRestFragment(type, call, fields.timestamp ?? fields.originalTimestamp ?? null);
  const isTooDeep = (hasProperties && propertiesJson === null) || (hasTraits && traitsJson === null);
  if (isTooDeep || contextJson === null || restJson === null) return null;
  return { propertiesJson, traitsJson, contextJson, restJson: restJson === "{}" ? null : restJson };
}

/** Ms since the epoch of a `sentAt`; null when there is none that can be read: it corrects, and is no reason to refuse. */
export function sentAtMs(sentAt: unknown): number | null {
  return typeof sentAt === "string" ? parseTimestamp(sentAt) : null;
}

function isCallType(value: unknown): value is CallType {
  return CALL_TYPES.some((type) => type === value);
}

/** One client sends an identify's traits in `context.traits` and nowhere else. */
function toTraitsFragment(
  type: CallType,
  { traits }: CallFields,
  context: JsonObject,
  shared: SharedContext | null,
): string | null {
  if (traits !== null && traits !== undefined) return toFragment(traits, INNER_LEVELS);
  if (type !== "identify") return "{}";
  if (!Object.hasOwn(context, "traits")) return shared?.traitsJson ?? "{}";
  return isJsonObject(context["traits"]) ? toFragment(context["traits"], INNER_LEVELS) : "{}";
}

const NO_FIELDS: JsonObject = {};

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : NO_FIELDS;
}

/** The two additions are plain words at the end, so the result is a fragment again (J1). */
function toContextFragment(own: JsonObject, { context, ip, userAgent }: CallOrigin): string | null {
  let json = mergedFragment(context, own, INNER_LEVELS);
  if (json === null) return null;
  const says = (key: string) => Object.hasOwn(own, key) || context?.members.has(key) === true;
  if (ip !== null && !says("ip")) json = append(json, `"ip":${JSON.stringify(ip)}`);
  if (userAgent !== null && !says("userAgent")) json = append(json, `"userAgent":${JSON.stringify(userAgent)}`);
  return json;
}

function append(objectJson: string, member: string): string {
  return objectJson === "{}" ? `{${member}}` : `${objectJson.slice(0, -1)},${member}}`;
}

/** Top-level fields that stand elsewhere in the event, by type. The write key goes no further than ingest. */
const PLACED_FIELDS: Readonly<Record<CallType, ReadonlySet<string>>> = {
  identify: placedFields("identify"),
  track: placedFields("track"),
  page: placedFields("page"),
  screen: placedFields("screen"),
  group: placedFields("group"),
  alias: placedFields("alias"),
};

function placedFields(type: CallType): ReadonlySet<string> {
  const placed = new Set([...Object.keys(CALL_SCHEMAS[type].shape), "type", "writeKey"]);
  placed.delete("sentAt");
  return placed;
}

/** The call's other fields in their order, and its time as it gave it. */
function toRestFragment(type: CallType, call: JsonObject, givenTimestamp: string | null): string | null {
  const placed = PLACED_FIELDS[type];
  let members = "";
  for (const key of Object.keys(call)) {
    if (placed.has(key)) continue;
    const value = toFragment(call[key], INNER_LEVELS);
    if (value === null) return null;
    members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${value}`;
  }
  if (givenTimestamp !== null) {
    members += `${members === "" ? "" : ","}"originalTimestamp":${JSON.stringify(givenTimestamp)}`;
  }
  return `{${members}}`;
}

function toId(value: string | number | null | undefined): string | null {
  if (value === null || value === undefined || value === "") return null;
  return typeof value === "number" ? String(value) : toWellFormed(value);
}

function toText(value: string | null | undefined): string | null {
  return value === null || value === undefined || value === "" ? null : toWellFormed(value);
}

function refuse(code: CallRefusal["code"], message: string): ParsedCall {
  return { taken: false, refusal: { code, message } };
}

function refuseIssue(error: z.ZodError): ParsedCall {
  const [issue] = error.issues;
  const field = issue === undefined ? "" : issue.path.map(String).join(".");
  return refuse("invalid_field", `"${field}" ${issue?.message ?? "cannot be read"}.`);
}

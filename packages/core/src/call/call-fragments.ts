/**
 * A call's own JSON as fragments of text (rule JF1 of json-fragment.ts): its properties, its traits, its context, and
 * the rest.
 */
import type { Event } from "../event/event.ts";
import { toIsoTime } from "../event/iso-time.ts";
import type { CallArrival } from "./call-arrival.ts";
import { CALL_SCHEMAS, type CallFields, type CallType } from "./call-schema.ts";
import { isJsonObject, type JsonObject, MAX_NESTING, objectOf, toFragment } from "./json-fragment.ts";
import { mergedFragment, type SharedContext } from "./shared-fields.ts";

/** The fields of an event that hold JSON of the caller. */
export type CallFragments = Pick<Event, "propertiesJson" | "traitsJson" | "contextJson" | "restJson">;

/** How deep a field of a call may nest: the call's own object is one level. */
const INNER_LEVELS = MAX_NESTING - 1;

/** The caller's JSON as the event carries it; null when some of it nests too deep. */
export function toCallFragments(
  type: CallType,
  call: JsonObject,
  fields: CallFields,
  arrival: CallArrival,
): CallFragments | null {
  const context = objectOf(fields.context);
  const hasProperties = type === "track" || type === "page" || type === "screen";
  const hasTraits = type === "identify" || type === "group";
  const propertiesJson = hasProperties ? toFragment(fields.properties ?? {}, INNER_LEVELS) : null;
  const traitsJson = hasTraits ? toTraitsFragment(type, fields, context, arrival.context) : null;
  const contextJson = toContextFragment(context, arrival);
  const restJson = toRestFragment(type, call, {
    timestamp: fields.timestamp ?? fields.originalTimestamp ?? null,
    sentAtMs: arrival.sentAtMs,
  });
  const isTooDeep = (hasProperties && propertiesJson === null) || (hasTraits && traitsJson === null);
  if (isTooDeep || contextJson === null || restJson === null) return null;
  return { propertiesJson, traitsJson, contextJson, restJson: restJson === "{}" ? null : restJson };
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

/** The two members that are appended have plain keys, so the result is a fragment again (JF1). */
function toContextFragment(own: JsonObject, { context, ip, userAgent }: CallArrival): string | null {
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

/**
 * The top-level fields, by type, that an event has a place of its own for. The write key goes no further than ingest.
 */
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

interface GivenTimes {
  /** The call's time as it gave it. */
  readonly timestamp: string | null;
  /** The batch's `sentAt`, for a call that has none. */
  readonly sentAtMs: number | null;
}

/** The call's other fields in their order, and its times. */
function toRestFragment(type: CallType, call: JsonObject, { timestamp, sentAtMs }: GivenTimes): string | null {
  const placed = PLACED_FIELDS[type];
  let members = "";
  for (const key of Object.keys(call)) {
    if (placed.has(key)) continue;
    const value = toFragment(call[key], INNER_LEVELS);
    if (value === null) return null;
    members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${value}`;
  }
  if (sentAtMs !== null && !Object.hasOwn(call, "sentAt")) {
    members += `${members === "" ? "" : ","}"sentAt":"${toIsoTime(sentAtMs)}"`;
  }
  if (timestamp !== null) {
    members += `${members === "" ? "" : ","}"originalTimestamp":${JSON.stringify(timestamp)}`;
  }
  return `{${members}}`;
}

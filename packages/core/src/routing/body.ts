/**
 * The body of a delivery's requests: the event as a JSON object, in the documented shape of its type or, for a
 * destination that asks for it, with the other fields of the call behind that.
 *
 * The body is put together from the event's JSON fragments. Nothing of the documented shape is parsed, and the body is
 * a fixed point: `JSON.stringify(JSON.parse(body)) === body`. Receivers verify the signature over their own
 * re-serialisation, so that is part of the signature's contract.
 *
 * A field of a type's shape that the call did not have is `null` (an object: `{}`), so that a receiver finds the same
 * keys in every body of a type. `anonymousId` is the one exception: it is there only when the call had one.
 */
import { objectOf } from "../call/json-fragment.ts";
import { parseJson } from "../call/parse-json.ts";
import type { Payload } from "../config/destination.ts";
import type { Event } from "../event/event.ts";
import { toIsoTime } from "../event/iso-time.ts";

/** The request body of an event, made once for all destinations with this payload. */
export function toWebhookBody(event: Event, payload: Payload = "documented"): string {
  const body = documentedBody(event);
  // The notification of a deletion is no call, and has no other fields.
  if (payload === "documented" || event.type === "delete") return body;
  return `${body.slice(0, -1)},${besides(event)}}`;
}

function documentedBody(event: Event): string {
  const timestamp = `"timestamp":"${toIsoTime(event.timestampMs)}"`;
  switch (event.type) {
    case "page":
      return `{"version":1,"type":"page",${user(event)},"properties":${event.propertiesJson ?? "{}"},${end(event, timestamp)}`;
    case "screen":
      return `{"version":1,"type":"screen",${user(event)},"name":${JSON.stringify(event.name)},${end(event, timestamp)}`;
    case "identify":
      return `{"version":1,"type":"identify",${user(event)},"traits":${event.traitsJson ?? "{}"},${end(event, timestamp)}`;
    case "track":
      return `{"version":1,"type":"track",${user(event)},"event":${JSON.stringify(event.event)},"properties":${
        event.propertiesJson ?? "{}"
      },${end(event, timestamp)}`;
    case "alias":
      return `{"version":1,"type":"alias","Previous ID":${JSON.stringify(event.previousId)},"User ID":${JSON.stringify(
        event.userId,
      )}${anonymousId(event)},${end(event, timestamp)}`;
    case "group":
      return `{"version":1,"type":"group","groupId":${JSON.stringify(event.groupId)},${user(event)},"traits":${
        event.traitsJson ?? "{}"
      },${end(event, timestamp)}`;
    case "delete":
      return `{"type":"delete","userId":${JSON.stringify(event.userId)},${timestamp}}`;
  }
}

/** `userId` is null where the call had none, so that every body of a type has the same keys. */
function user(event: Event): string {
  return `"userId":${JSON.stringify(event.userId)}${anonymousId(event)}`;
}

function anonymousId(event: Event): string {
  return event.anonymousId === null ? "" : `,"anonymousId":${JSON.stringify(event.anonymousId)}`;
}

function end(event: Event, timestamp: string): string {
  return `${timestamp},"context":${event.contextJson}}`;
}

/**
 * The other fields of the call, none of which is in the documented shape of its type. The call's own JSON is taken as
 * it was, so that the result is a fixed point too; it is parsed for that, only for destinations that ask for it.
 */
function besides(event: Event): string {
  const { type, name, propertiesJson, messageId, receivedAtMs, integrations } = event;
  const rest = objectOf(event.restJson === null ? null : parseJson(event.restJson));
  const own = (key: string): string => (Object.hasOwn(rest, key) ? JSON.stringify(rest[key]) : "null");
  const named = type === "page" ? `"name":${JSON.stringify(name)},` : `"properties":${propertiesJson ?? "{}"},`;
  const ofType = type === "page" || type === "screen" ? `${named}"category":${own("category")},` : "";
  const times = `"receivedAt":"${toIsoTime(receivedAtMs)}","sentAt":${own("sentAt")},"originalTimestamp":${own("originalTimestamp")}`;
  return `${ofType}"messageId":${JSON.stringify(messageId)},${times},"integrations":${JSON.stringify(integrations)}`;
}

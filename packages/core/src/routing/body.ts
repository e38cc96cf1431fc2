/**
 * The body that leaves: an event as the JSON object that receivers get, in the shapes of product.md and no others.
 *
 * The body is put together from the event's JSON fragments, which are outputs of `JSON.stringify`. Nothing is parsed,
 * and what comes out is a fixed point again: `JSON.stringify(JSON.parse(body)) === body`. Receivers verify the
 * signature over their own re-serialisation, so that is part of the signature's contract.
 *
 * A field of a type's shape that the call did not have is `null` (an object: `{}`), so that a receiver finds the same
 * keys in every body of a type. `anonymousId` is the one exception: it is there only when the call had one.
 */
import type { Event } from "../event/event.ts";
import { toIsoTime } from "../event/iso-time.ts";

/** The request body of an event, serialised once for all its destinations. */
export function toWebhookBody(event: Event): string {
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

/** Without a userId it is null: otherwise an anonymous call could not be told from another. */
function user(event: Event): string {
  return `"userId":${JSON.stringify(event.userId)}${anonymousId(event)}`;
}

function anonymousId(event: Event): string {
  return event.anonymousId === null ? "" : `,"anonymousId":${JSON.stringify(event.anonymousId)}`;
}

function end(event: Event, timestamp: string): string {
  return `${timestamp},"context":${event.contextJson}}`;
}

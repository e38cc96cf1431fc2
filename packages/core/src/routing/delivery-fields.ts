/** The fields of its event that a delivery has beside the body, so that its readers need not look for the event. */
import type { Event } from "../event/event.ts";
import { shortName } from "./short-name.ts";

/** track: the event's name; page, screen: the name, shortened (`shortName`). Null for the other types. */
export function eventNameOf({ type, event, name }: Pick<Event, "type" | "event" | "name">): string | null {
  const whole = type === "track" ? event : type === "page" || type === "screen" ? name : null;
  return whole === null ? null : shortName(whole);
}

/**
 * The fields of the event that the documented body has no place for, as a fragment (JF1 of json-fragment.ts): the
 * call's other fields with its `sentAt` and `originalTimestamp`, a page's `name`, a screen's `properties`, and
 * `integrations`. Null where there are none. The members that are added to the call's other fields are never among
 * those.
 */
export function omittedFields(event: Event): string | null {
  const { type, name, propertiesJson, integrations, restJson } = event;
  let added = "";
  if (type === "page" && name !== null) added += `,"name":${JSON.stringify(name)}`;
  if (type === "screen" && propertiesJson !== null && propertiesJson !== "{}")
    added += `,"properties":${propertiesJson}`;
  if (hasMembers(integrations)) added += `,"integrations":${JSON.stringify(integrations)}`;
  if (added === "") return restJson;
  return restJson === null ? `{${added.slice(1)}}` : `${restJson.slice(0, -1)}${added}}`;
}

function hasMembers(object: object): boolean {
  for (const _ in object) return true;
  return false;
}

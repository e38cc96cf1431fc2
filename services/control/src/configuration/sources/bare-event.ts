/** An event with ids, a type and times, and nothing else; control makes the events that it sends itself from it. */
import type { Event } from "@posthaste/core/event/event";

export type BareEventOptions = Pick<Event, "messageId" | "sourceId" | "type"> & {
  readonly userId: string;
  readonly nowMs: number;
};

export function bareEvent({ nowMs, ...named }: BareEventOptions): Event {
  return {
    ...named,
    anonymousId: null,
    timestampMs: nowMs,
    receivedAtMs: nowMs,
    integrations: {},
    event: null,
    name: null,
    groupId: null,
    previousId: null,
    propertiesJson: null,
    traitsJson: null,
    contextJson: "{}",
    restJson: null,
  };
}

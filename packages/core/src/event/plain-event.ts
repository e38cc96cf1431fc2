/** An event with ids, a type and times, and nothing else; control makes the events that it sends itself from it. */
import type { Event } from "./event.ts";

export type PlainEventOptions = Pick<Event, "messageId" | "sourceId" | "type"> & {
  readonly userId: string;
  readonly nowMs: number;
};

export function plainEvent({ nowMs, ...named }: PlainEventOptions): Event {
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

/** The event that tests make their own from. */
import type { Event } from "@posthaste/core/event/event";

/** A track event of the source `src_1` and the user `u1`, which is complete but for the fields of `change`. */
export function testEvent(messageId: string, change: Partial<Event> = {}): Event {
  return {
    messageId,
    sourceId: "src_1",
    type: "track",
    userId: "u1",
    anonymousId: null,
    timestampMs: Date.parse("2020-01-02T03:04:05.678Z"),
    receivedAtMs: 1_600_000_000_000,
    integrations: {},
    event: "E",
    name: null,
    groupId: null,
    previousId: null,
    propertiesJson: "{}",
    traitsJson: null,
    contextJson: "{}",
    restJson: null,
    ...change,
  };
}

/** The event of a test-send: plainly made up, with every field that its type has. */
import type { Event, EventType } from "@posthaste/core/event/event";
import { plainEvent } from "@posthaste/core/event/plain-event";

export interface SampleEventOptions {
  readonly messageId: string;
  readonly nowMs: number;
}

const CONTEXT = {
  ip: "192.0.2.1",
  library: { name: "posthaste-test", version: "1.0.0" },
  app: { build: "1", name: "Posthaste test", version: "1.0.0" },
  device: { model: "test", type: "test" },
  os: { name: "test", version: "1.0" },
};

const FIELDS: Readonly<Record<EventType, Partial<Event>>> = {
  page: {
    name: "Test page",
    propertiesJson: JSON.stringify({
      path: "/test",
      referrer: "https://www.example.com/",
      title: "Test page",
      url: "https://www.example.com/test",
    }),
  },
  screen: { name: "Test screen", propertiesJson: JSON.stringify({ step: 1 }) },
  identify: { traitsJson: JSON.stringify({ email: "test@example.com", plan: "test", logins: 1 }) },
  track: { event: "Test Event", propertiesJson: JSON.stringify({ product: "test", price: 1.5 }) },
  alias: { previousId: "test-anonymous" },
  group: { groupId: "test-group", traitsJson: JSON.stringify({ name: "Test group", employees: 1 }) },
  delete: {},
};

export function sampleEvent(type: EventType, { messageId, nowMs }: SampleEventOptions): Event {
  return {
    ...plainEvent({ messageId, sourceId: "test", type, userId: "test-user", nowMs }),
    contextJson: JSON.stringify(CONTEXT),
    ...FIELDS[type],
  };
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCall } from "../call/call.ts";
import { CALL_TYPES } from "../call/call-schema.ts";
import type { Event } from "../event/event.ts";
import { eventNameOf, omittedFields } from "./delivery-fields.ts";
import { shortName } from "./short-name.ts";

const arrival = {
  ...{ sourceId: "s", receivedAtMs: 1_700_000_000_000, sentAtMs: null, context: null, integrations: null },
  ...{ ip: null, userAgent: null, makeMessageId: () => "made" },
};

function eventOf(call: Readonly<Record<string, unknown>>): Event {
  const parsed = parseCall({ userId: "u", ...call }, null, arrival);
  if (!parsed.accepted) throw new Error(parsed.refusal.message);
  return parsed.event;
}

describe("an event's name", () => {
  it("is that of a track, a page and a screen, and none of other types", () => {
    const names = [
      eventNameOf(eventOf({ type: "track", event: "Bought", name: "no" })),
      eventNameOf(eventOf({ type: "page", name: "Home" })),
      eventNameOf(eventOf({ type: "page" })),
      eventNameOf(eventOf({ type: "screen", name: "Cart" })),
      eventNameOf(eventOf({ type: "identify" })),
    ];
    expect(names).toEqual(["Bought", "Home", null, "Cart", null]);
  });

  it("is shortened after 256 characters", () => {
    const nameOf = (event: string) => eventNameOf(eventOf({ type: "track", event }));
    expect(nameOf("x".repeat(256))).toBe("x".repeat(256));
    expect(nameOf("x".repeat(257))).toBe(shortName("x".repeat(257)));
  });
});

describe("what an event has beside the documented body", () => {
  it("is a page's name and category, a screen's properties and category, its times and its integrations", () => {
    const shared = {
      ...{ category: "Shop", originalTimestamp: "2026-11-22T10:00:00Z", sentAt: "2026-11-22T10:00:01Z" },
      integrations: { All: false, Webhooks: { on: 1 } },
    };
    const times = { sentAt: "2026-11-22T10:00:01Z", originalTimestamp: "2026-11-22T10:00:00Z" };
    const integrations = { All: false, Webhooks: true };
    const beyond = (call: object) => JSON.parse(omittedFields(eventOf({ ...shared, ...call })) ?? "null");
    expect(beyond({ type: "page", name: "Home", properties: { path: "/" } })).toEqual({
      ...{ category: "Shop", name: "Home", ...times, integrations },
    });
    expect(beyond({ type: "screen", name: "Cart", properties: { items: 2 } })).toEqual({
      ...{ category: "Shop", properties: { items: 2 }, ...times, integrations },
    });
    expect(beyond({ type: "track", event: "Bought", properties: { price: 1 }, channel: "web" })).toEqual({
      ...{ category: "Shop", channel: "web", ...times, integrations },
    });
  });

  it("is nothing for an event that has nothing", () => {
    const types = CALL_TYPES.map((type) => eventOf({ type, event: "Bought", groupId: "g", previousId: "p" }));
    expect(types.map((event) => omittedFields({ ...event, restJson: null }))).toEqual(CALL_TYPES.map(() => null));
    expect(omittedFields(eventOf({ type: "screen", name: "Cart", properties: {} }))).toBeNull();
  });

  it("is a fixed point of JSON, whatever the call said", () => {
    const value = fc.jsonValue({ maxDepth: 1 });
    const call = fc.record({
      type: fc.constantFrom(...CALL_TYPES),
      event: fc.constant("Bought"),
      name: fc.string(),
      properties: fc.dictionary(fc.string(), value, { maxKeys: 3 }),
      integrations: fc.dictionary(fc.string(), fc.boolean(), { maxKeys: 3 }),
    });
    const key = fc.oneof(fc.string(), fc.nat().map(String), fc.constant("__proto__"));
    const rest = fc.dictionary(key, value, { maxKeys: 3 });
    fc.assert(
      fc.property(call, rest, (named, others) => {
        const json = omittedFields(eventOf(JSON.parse(JSON.stringify({ ...others, ...named }))));
        if (json !== null) expect(JSON.stringify(JSON.parse(json))).toBe(json);
      }),
    );
  });
});

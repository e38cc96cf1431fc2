import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EVENT_TYPES, type Event } from "../event/event.ts";
import { toWebhookBody } from "../routing/body.ts";
import { deliveryKey } from "../routing/partition-key.ts";
import { isDeliverySuppressed, isEventSuppressed, suppressionKey } from "./suppression.ts";

const NOTHING: Event = {
  messageId: "m-1",
  sourceId: "src_1",
  type: "track",
  userId: null,
  anonymousId: null,
  timestampMs: 0,
  receivedAtMs: 0,
  integrations: {},
  event: "e",
  name: null,
  groupId: null,
  previousId: null,
  propertiesJson: null,
  traitsJson: null,
  contextJson: "{}",
  restJson: null,
};

const suppressed = new Set([suppressionKey("src_1", "gone")]);
const alias = (userId: string, previousId: string): Event => ({ ...NOTHING, type: "alias", userId, previousId });

/** Delivery's question about the delivery that an event became. */
function isItsDeliverySuppressed(users: ReadonlySet<string>, event: Event): boolean {
  const delivery = { sourceId: event.sourceId, destinationId: "dst_1", type: event.type };
  const bodyText = () => toWebhookBody(event);
  return isDeliverySuppressed(users, { delivery, key: deliveryKey("dst_1", event), bodyText });
}

describe("an event of a suppressed user", () => {
  it.each<[string, boolean, Event]>([
    ["by user id", true, { ...NOTHING, userId: "gone" }],
    ["of another user", false, { ...NOTHING, userId: "here" }],
    ["of another source", false, { ...NOTHING, userId: "gone", sourceId: "src_2" }],
    ["by an anonymous id that is the same text", true, { ...NOTHING, anonymousId: "gone" }],
    ["by a user id beside that anonymous id", false, { ...NOTHING, userId: "here", anonymousId: "gone" }],
    ["as the new id of an alias", true, alias("gone", "before")],
    ["as the id that an alias is from", true, alias("here", "gone")],
    ["as neither id of an alias", false, alias("here", "before")],
    ["as the notification of the deletion", false, { ...NOTHING, type: "delete", userId: "gone" }],
  ])("%s: %s", (_, expected, event) => {
    expect(isEventSuppressed(suppressed, event)).toBe(expected);
    expect(isItsDeliverySuppressed(suppressed, event)).toBe(expected);
  });

  it("is told by the event and by its deliveries alike, whatever the ids", () => {
    const id = fc.constantFrom("gone", "here", "gone:here", ":", "", "src_1:gone", "\u00fc\u2603");
    const event = fc.record({
      type: fc.constantFrom(...EVENT_TYPES),
      userId: fc.option(id),
      anonymousId: fc.option(id),
      previousId: fc.option(id),
      sourceId: fc.constantFrom("src_1", "src_2"),
    });
    const users = fc.array(fc.tuple(fc.constantFrom("src_1", "src_2"), id), { maxLength: 3 });
    fc.assert(
      fc.property(event, users, (fields, named) => {
        const held = new Set(named.map(([sourceId, userId]) => suppressionKey(sourceId, userId)));
        const whole = { ...NOTHING, ...fields };
        expect(isItsDeliverySuppressed(held, whole)).toBe(isEventSuppressed(held, whole));
      }),
    );
  });

  it("of a record without a key is nobody's, and of an emptied body the id that an alias is from is not known", () => {
    const delivery = { sourceId: "src_1", destinationId: "dst_1", type: "alias" } as const;
    expect(isDeliverySuppressed(suppressed, { delivery, key: null, bodyText: () => "" })).toBe(false);
    expect(isDeliverySuppressed(suppressed, { delivery, key: "dst_1:here", bodyText: () => "" })).toBe(false);
    expect(isDeliverySuppressed(suppressed, { delivery, key: "dst_1:gone", bodyText: () => "" })).toBe(true);
  });

  it("costs nothing where nobody is suppressed: neither key nor body is read", () => {
    const unread = (): never => {
      throw new Error("it was read");
    };
    const delivery = { sourceId: "src_1", destinationId: "dst_1", type: "alias" } as const;
    expect(isDeliverySuppressed({ size: 0, has: unread }, { delivery, key: "dst_1:u", bodyText: unread })).toBe(false);
    expect(isEventSuppressed({ size: 0, has: unread }, alias("gone", "gone"))).toBe(false);
  });
});

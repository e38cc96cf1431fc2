import { expect, it } from "vitest";
import { deliveryKey, eventKey } from "./partition-key.ts";

it("a user's events of one source share a key, known by userId before anonymousId", () => {
  expect(eventKey("s1", { userId: "u1", anonymousId: "a1", messageId: "m1" })).toBe("s1:u1");
  expect(eventKey("s1", { userId: null, anonymousId: "a1", messageId: "m1" })).toBe("s1:a1");
});

it("a user's deliveries to one destination share a key", () => {
  expect(deliveryKey("d1", { userId: "u1", anonymousId: null, messageId: "m1" })).toBe("d1:u1");
});

it("a call that names nobody is kept in no order with others", () => {
  expect(eventKey("s1", { userId: null, anonymousId: null, messageId: "m1" })).toBe("s1:m1");
});

import { shortName } from "@posthaste/core/routing/short-name";
import { describe, expect, it } from "vitest";
import { toRejectedCall } from "./rejected-call.ts";

const REFUSAL = { code: "missing_user", message: "Say whose it is." } as const;

const entryOf = (call: unknown, index: number | null = null) =>
  toRejectedCall(REFUSAL, { call, callJson: "{}", index }, { receivedAtMs: 5 });

describe("the entry of a call that was not accepted", () => {
  it("has the reason, the call and by what it is looked for", () => {
    const call = { messageId: "m1", userId: "u1", anonymousId: "a1", event: "Order Completed" };
    expect(entryOf(call)).toEqual({
      ...{ rejectedAtMs: 5, code: "missing_user", message: "Say whose it is.", index: 0, callJson: "{}" },
      ...{ messageId: "m1", userKey: "u1", event: "Order Completed", single: true },
    });
    expect(entryOf({ anonymousId: "a1", name: "Home" }, 3)).toMatchObject({
      ...{ index: 3, messageId: null, userKey: "a1", event: "Home", single: false },
    });
  });

  it.each([null, "text", 7, [], {}, { messageId: 7.5, userId: {}, event: 7 }, { messageId: "", userId: "" }])(
    "leaves out what %j does not say",
    (call) => {
      expect(entryOf(call)).toMatchObject({ messageId: null, userKey: null, event: null });
    },
  );

  it("has ids that are numbers as texts, as they are in calls that are accepted", () => {
    expect(entryOf({ messageId: 7, userId: 42 })).toMatchObject({ messageId: "7", userKey: "42" });
  });

  it("shortens what is long", () => {
    const long = "x".repeat(40_000);
    expect(entryOf({ messageId: long, userId: long, event: long })).toMatchObject({
      ...{ messageId: shortName(long), userKey: shortName(long), event: shortName(long) },
    });
  });
});

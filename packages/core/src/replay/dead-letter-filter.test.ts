import { describe, expect, it } from "vitest";
import {
  type DeadLetterFacts,
  type DeadLetterFilter,
  deadLetterCheck,
  deadLetterPlace,
  errorOf,
} from "./dead-letter-filter.ts";

const DEAD_LETTER: DeadLetterFacts = {
  partition: 1,
  offset: 7,
  deadAtMs: 1000,
  reason: "window_expired",
  destinationId: "dst_1",
  sourceId: "src_1",
  messageId: "m1",
  type: "track",
  userIds: ["ada", "bob"],
  event: "Ordered",
  errors: ["503", "timeout"],
};

describe("a filter of dead letters", () => {
  it.each<[DeadLetterFilter, DeadLetterFilter]>([
    [{}, { destinationId: "dst_2" }],
    [{ destinationId: "dst_1" }, { reason: "suppressed" }],
    [{ reason: "window_expired" }, { error: "401" }],
    [{ error: "timeout" }, { type: "page" }],
    [{ type: "track" }, { userId: "cyd" }],
    [{ userId: "bob" }, { sourceId: "src_2" }],
    [{ sourceId: "src_1" }, { event: "ordered" }],
    [{ event: "Ordered" }, { sinceMs: 1001 }],
    [{ sinceMs: 1000 }, { untilMs: 1000 }],
    [{ untilMs: 1001 }, { messageIds: ["m2"] }],
    [{ messageIds: ["m2", "m1"] }, { messageIds: [] }],
    [{ places: ["1:7"] }, { places: ["7:1"] }],
  ])("takes it by %j and not by %j, whatever else is named", (fitting, other) => {
    expect([deadLetterCheck(fitting)(DEAD_LETTER), deadLetterCheck(other)(DEAD_LETTER)]).toEqual([true, false]);
    expect(deadLetterCheck({ destinationId: "dst_1", sinceMs: 1, ...fitting })(DEAD_LETTER)).toBe(true);
    expect(deadLetterCheck({ destinationId: "dst_1", sinceMs: 1, ...other })(DEAD_LETTER)).toBe(false);
  });

  it("does not take what has no name for one that is named", () => {
    expect(deadLetterCheck({ event: "Ordered" })({ ...DEAD_LETTER, event: null })).toBe(false);
  });

  it("calls a place by partition and offset, and what failed by its code, else by its status", () => {
    expect(deadLetterPlace(DEAD_LETTER)).toBe("1:7");
    expect([errorOf({ error: "timeout", status: null }), errorOf({ error: null, status: 503 })]).toEqual([
      ...["timeout", "503"],
    ]);
  });
});

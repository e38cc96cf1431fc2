import { describe, expect, it } from "vitest";
import { DEAD_LETTER_REASONS } from "../delivery/dead-letter.ts";
import { type DeadLettersOfCause, deadLettersToReplay, endsWithAnswer, isMended } from "./mended.ts";

const cause = (over: Partial<DeadLettersOfCause> = {}): DeadLettersOfCause => ({
  ...{ destinationId: "dst_1", reason: "rejected_by_receiver", open: 2, firstOpenMs: 100, lastMs: 200 },
  ...over,
});

describe("a mended destination", () => {
  it("ME1: is told of by dead letters that end when it answers, and not by those of a choice", () => {
    expect(DEAD_LETTER_REASONS.filter(endsWithAnswer)).toEqual(["window_expired", "rejected_by_receiver"]);
    expect(deadLettersToReplay([cause({ reason: "suppressed" }), cause({ open: 0 })], [])).toEqual([]);
  });

  it("ME1: has the open dead letters of all causes, and the one with the most comes first", () => {
    const causes = [
      cause(),
      cause({ reason: "window_expired", open: 3, firstOpenMs: 50, lastMs: 150 }),
      cause({ destinationId: "dst_2", open: 9 }),
    ];
    expect(deadLettersToReplay(causes, [])).toEqual([
      { destinationId: "dst_2", open: 9, firstMs: 100, lastMs: 200 },
      { destinationId: "dst_1", open: 5, firstMs: 50, lastMs: 200 },
    ]);
  });

  it("ME2: is told of until a replay that began later takes them, its own or one of all destinations", () => {
    const told = (destinationId: string | null, createdAtMs: number) =>
      deadLettersToReplay([cause()], [{ destinationId, createdAtMs }]).length;
    expect([told("dst_1", 200), told("dst_2", 300), told("dst_1", 201), told(null, 201)]).toEqual([1, 1, 0, 0]);
  });

  it("ME2: is healthy, since no dead letter was written", () => {
    expect(isMended({ state: "healthy", sinceMs: 200 }, { lastMs: 200 })).toBe(true);
    expect(isMended({ state: "healthy", sinceMs: null }, { lastMs: 200 })).toBe(true);
    expect(isMended({ state: "healthy", sinceMs: 199 }, { lastMs: 200 })).toBe(false);
    expect(isMended({ state: "failing", sinceMs: 300 }, { lastMs: 200 })).toBe(false);
  });
});

import { expect, it } from "vitest";
import { createCallSorter } from "./sort-calls.ts";

it("the calls of a batch are sorted in steps: others have their turn between two runs, and within a long one", () => {
  const sorter = createCallSorter({
    encodeEvent: () => Buffer.alloc(1_000),
    encodeRejectedCalls: () => Buffer.alloc(1),
    names: { events: "events", rejectedCalls: "rejected-calls" },
  });
  const arrival = { sourceId: "s", receivedAtMs: 0, sentAtMs: null, context: null, integrations: null };
  const stepsOf = (...runs: readonly number[]) => {
    const parsed = runs.map((calls) => ({
      calls: Array(calls).fill({ type: "track", userId: "u", event: "E" }),
      isLarge: false,
    }));
    const sender = { ip: null, userAgent: null, makeMessageId: () => "m" };
    const steps = sorter.batch(parsed, { ...arrival, ...sender }, Number.POSITIVE_INFINITY);
    let count = 1;
    let next = steps.next();
    for (; next.done !== true; next = steps.next()) count++;
    expect(next.value).toMatchObject({ accepted: runs.reduce((sum, calls) => sum + calls, 0) });
    return count;
  };
  expect(stepsOf(1)).toBe(2);
  expect(stepsOf(1, 1, 1)).toBe(4);
  // By their number, and by what is made of them.
  expect(stepsOf(64)).toBe(2);
  expect(stepsOf(65)).toBe(3);
  expect(stepsOf(66, 1)).toBe(4);
});

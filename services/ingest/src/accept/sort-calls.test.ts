import { expect, it } from "vitest";
import { createCallSorter } from "./sort-calls.ts";

const sorter = createCallSorter({
  encodeEvent: () => Buffer.alloc(1_000),
  encodeRejectedCalls: () => Buffer.alloc(1),
  names: { events: "events", rejectedCalls: "rejected-calls" },
});
const arrival = {
  ...{ sourceId: "s", receivedAtMs: 0, sentAtMs: null, context: null, integrations: null },
  ...{ ip: null, userAgent: null, makeMessageId: () => "m" },
};
const ANY = Number.POSITIVE_INFINITY;

it("the calls of a batch are sorted in steps: others have their turn between two runs, and within a long one", () => {
  const stepsOf = (...runs: readonly number[]) => {
    const parsed = runs.map((calls) => ({
      calls: Array(calls).fill({ type: "track", userId: "u", event: "E" }),
      isLarge: false,
    }));
    const steps = sorter.batch(parsed, arrival, { expandedBytes: ANY, refusedLength: ANY });
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

it("a batch whose refused calls are more text than may be kept is refused with the first that is too much", () => {
  const refused = { type: "track", userId: "u", event: "E", messageId: "x".repeat(10_000) };
  const length = JSON.stringify(refused).length;
  const oversized = Buffer.from(JSON.stringify({ ...refused, messageId: "x".repeat(40_000) }));
  const outcomeOf = (refusedLength: number, last: { readonly oversized: Buffer } | null) => {
    let looked = 0;
    const calls = Array.from({ length: 3 }, () => ({
      get type() {
        looked++;
        return "track";
      },
      ...{ userId: "u", event: "E", messageId: refused.messageId },
    }));
    const runs = [{ calls, isLarge: false }, ...(last === null ? [] : [last])];
    const steps = sorter.batch(runs, arrival, { expandedBytes: ANY, refusedLength });
    let next = steps.next();
    while (next.done !== true) next = steps.next();
    return { looked, outcome: next.value };
  };
  const { looked, outcome } = outcomeOf(3 * length, null);
  expect(outcome).toMatchObject({ accepted: 0, rejected: { length: 3 } });
  expect(outcomeOf(3 * length - 1, null).outcome).toMatchObject({ status: 413, code: "request_too_large" });
  // After the first call nobody looks at the others.
  expect(outcomeOf(length - 1, null).looked).toBe(looked / 3);
  expect(outcomeOf(3 * length + 32_768, { oversized }).outcome).toMatchObject({ rejected: { length: 4 } });
  expect(outcomeOf(3 * length + 32_767, { oversized }).outcome).toMatchObject({ status: 413 });
});

import { shareContext, shareIntegrations } from "@posthaste/core/call/shared-fields";
import { expect, it } from "vitest";
import { MAX_REJECTED_CALLS, MERGED_KEY_BYTES, SHARED_KEY_BYTES } from "../limits.ts";
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
    const steps = sorter.batch(parsed, arrival, { expandedBytes: ANY, refusedLength: ANY, calls: ANY });
    let count = 1;
    let next = steps.next();
    for (; next.done !== true; next = steps.next()) count++;
    expect(next.value).toMatchObject({ accepted: runs.reduce((sum, calls) => sum + calls, 0) });
    return count;
  };
  expect(stepsOf(1)).toBe(2);
  expect(stepsOf(1, 1, 1)).toBe(4);
  // By their number, and by their content.
  expect(stepsOf(64)).toBe(2);
  expect(stepsOf(65)).toBe(3);
  expect(stepsOf(66, 1)).toBe(4);
});

it("a batch whose refused calls are more text than may be kept is refused with the first that is too much", () => {
  const refused = { type: "track", userId: "u", event: "E", messageId: "x".repeat(10_000) };
  const length = JSON.stringify(refused).length;
  const oversized = {
    unparsed: Buffer.from(JSON.stringify({ ...refused, messageId: "x".repeat(40_000) })),
    unfitness: "call_too_large",
  } as const;
  const outcomeOf = (refusedLength: number, last: typeof oversized | null) => {
    let looked = 0;
    const calls = Array.from({ length: 3 }, () => ({
      get type() {
        looked++;
        return "track";
      },
      ...{ userId: "u", event: "E", messageId: refused.messageId },
    }));
    const runs = [{ calls, isLarge: false }, ...(last === null ? [] : [last])];
    const steps = sorter.batch(runs, arrival, { expandedBytes: ANY, refusedLength, calls: ANY });
    let next = steps.next();
    while (next.done !== true) next = steps.next();
    return { looked, outcome: next.value };
  };
  const { looked, outcome } = outcomeOf(3 * length, null);
  expect(outcome).toMatchObject({ accepted: 0, rejected: { length: 3 } });
  expect(outcomeOf(3 * length - 1, null).outcome).toMatchObject({ status: 413, code: "request_too_large" });
  // After the first call nobody looks at the others.
  expect(outcomeOf(length - 1, null).looked).toBe(looked / 3);
  expect(outcomeOf(3 * length + 32_768, oversized).outcome).toMatchObject({ rejected: { length: 4 } });
  expect(outcomeOf(3 * length + 32_767, oversized).outcome).toMatchObject({ status: 413 });
});

it("integrations beside a batch's calls count in each call, and twice where the call has integrations too", () => {
  const integrations = shareIntegrations({ A: false, B: true });
  const outcomeOf = (own: object, expandedBytes: number) => {
    const calls = Array(3).fill({ type: "track", userId: "u", event: "E", ...own });
    const most = { expandedBytes, refusedLength: ANY, calls: ANY };
    const steps = sorter.batch([{ calls, isLarge: false }], { ...arrival, integrations }, most);
    let next = steps.next();
    while (next.done !== true) next = steps.next();
    return next.value;
  };
  for (const [own, bytesOfCall] of [
    [{}, 1_000 + 2 * SHARED_KEY_BYTES],
    [{ integrations: { C: false } }, 1_000 + 2 * MERGED_KEY_BYTES],
  ] as const) {
    expect(outcomeOf(own, 3 * bytesOfCall)).toMatchObject({ accepted: 3 });
    expect(outcomeOf(own, 3 * bytesOfCall - 1)).toMatchObject({ status: 413, code: "request_too_large" });
  }
});

it("a refused call counts as three of a batch's, and one too many refuses the batch before more are looked at", () => {
  const outcomeOf = (kinds: string, calls: number) => {
    let looked = 0;
    const call = (kind: string) => ({
      get type() {
        looked++;
        return kind === "g" ? "track" : "no type";
      },
      ...{ userId: "u", event: "E" },
    });
    const runs = [{ calls: [...kinds].map(call), isLarge: false }];
    const steps = sorter.batch(runs, arrival, { expandedBytes: ANY, refusedLength: ANY, calls });
    let next = steps.next();
    while (next.done !== true) next = steps.next();
    return { outcome: next.value, looked };
  };
  expect(outcomeOf("ggbgb", 9).outcome).toMatchObject({ accepted: 3, rejected: { length: 2 } });
  expect(outcomeOf("ggbgb", 8).outcome).toMatchObject({ status: 413, code: "request_too_large" });
  expect(outcomeOf("bbbbbbbb", 5).looked).toBe(outcomeOf("bb", 6).looked);
  const unparsed = { unparsed: Buffer.from("{}"), unfitness: "nested_too_deep" } as const;
  const ofUnparsed = (calls: number) =>
    sorter.batch([unparsed, unparsed], arrival, { expandedBytes: ANY, refusedLength: ANY, calls });
  expect([...ofUnparsed(6)]).toHaveLength(2);
  expect([...ofUnparsed(5)]).toHaveLength(1);
});

it("calls that nobody parses are refused with why, and a batch of more than may be refused as a whole", () => {
  const unparsed = Buffer.from('{"type":"track","userId":"u","writeKey":"secret","deep":[]}');
  const outcomeOf = (times: number) => {
    const runs = Array(times).fill({ unparsed, unfitness: "nested_too_deep" });
    const steps = sorter.batch(runs, arrival, { expandedBytes: ANY, refusedLength: ANY, calls: ANY });
    let next = steps.next();
    while (next.done !== true) next = steps.next();
    return next.value;
  };
  const rejected = [0, 1].map((index) => ({ index, code: "nested_too_deep", message: expect.stringMatching("100") }));
  expect(outcomeOf(2)).toMatchObject({ accepted: 0, rejected });
  expect(outcomeOf(MAX_REJECTED_CALLS)).toMatchObject({ rejected: { length: MAX_REJECTED_CALLS } });
  expect(outcomeOf(MAX_REJECTED_CALLS + 1)).toMatchObject({ status: 400, code: "too_many_rejected_calls" });
});

it("a batch's context counts in calls that are refused after it was put into them", () => {
  const deep = JSON.parse(`${"[".repeat(120)}${"]".repeat(120)}`);
  const call = { type: "track", userId: "u", event: "E", context: { deep } };
  const context = shareContext({ blob: "x".repeat(10_000) });
  const outcomeOf = (calls: number) => {
    const runs = [{ calls: Array(calls).fill(call), isLarge: false }];
    const steps = sorter.batch(
      runs,
      { ...arrival, context },
      { expandedBytes: 50_000, refusedLength: ANY, calls: ANY },
    );
    let next = steps.next();
    while (next.done !== true) next = steps.next();
    return next.value;
  };
  expect(outcomeOf(4)).toMatchObject({ rejected: { length: 4 } });
  expect(outcomeOf(5)).toMatchObject({ status: 413, code: "request_too_large" });
});

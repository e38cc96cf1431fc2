import { expect, it } from "vitest";
import { SentMoments } from "./sent-moments.ts";

it("knows for how long a request has been known, and of one that was known for long that it has", () => {
  let nowMs = 5000;
  const moments = new SentMoments({ nowMs: () => 0, monotonicMs: () => nowMs });
  expect(moments.forMs("a")).toBe(Number.POSITIVE_INFINITY);
  moments.note("a");
  nowMs += 7000;
  moments.note("a");
  expect(moments.forMs("a")).toBe(7000);
  nowMs += 60_000;
  moments.note("b");
  expect([moments.forMs("a"), moments.forMs("b")]).toEqual([Number.POSITIVE_INFINITY, 0]);
});

import { describe, expect, it } from "vitest";
import { DestinationsCounts } from "./health-counts.ts";
import { type ActiveHealth, stateSignature, toDestinationHealth } from "./health-report.ts";

const NOW_MS = 1_700_000_000_000;
const MONOTONIC_MS = 5000;
const MOMENT = { nowMs: NOW_MS, monotonicMs: MONOTONIC_MS };
const BREAKER = { state: "closed", openedMs: null, nextProbeMs: null } as const;
const shut = (...untilMs: readonly number[]): ActiveHealth => ({
  urls: untilMs.map((shutUntilMs, index) => ({
    ...{ url: `https://${index}.example/`, breaker: BREAKER, shutUntilMs, out: 0 },
  })),
  waiting: 0,
});

function countsOf(id: string) {
  const counts = new DestinationsCounts();
  counts.settled(id, "delivered", NOW_MS);
  const held = counts.get(id);
  if (held === undefined) throw new Error("nothing is counted");
  return held;
}

const UNTIL = [
  { untilMs: MONOTONIC_MS + 1, isShut: true },
  { untilMs: MONOTONIC_MS, isShut: false },
  { untilMs: MONOTONIC_MS - 1, isShut: false },
];

describe("what a process says of a URL that asked to be left in peace", () => {
  it.each(UNTIL)(
    "is when that ends, $untilMs on a clock at 5000, and nothing once it is over",
    ({ untilMs, isShut }) => {
      const { urls } = toDestinationHealth(countsOf("a"), shut(untilMs), MOMENT);
      expect(urls.map(({ notBeforeMs }) => notBeforeMs)).toEqual([isShut ? NOW_MS + untilMs - MONOTONIC_MS : null]);
    },
  );

  it.each(UNTIL)("is another state only until that moment, $untilMs on a clock at 5000", ({ untilMs, isShut }) => {
    const signatureOf = (active: ActiveHealth) => stateSignature({ failingSinceMs: null }, active, MOMENT);
    expect(signatureOf(shut(untilMs)) !== signatureOf(shut(0))).toBe(isShut);
    expect(signatureOf(shut(0, untilMs)) !== signatureOf(shut(untilMs, 0))).toBe(isShut);
  });
});

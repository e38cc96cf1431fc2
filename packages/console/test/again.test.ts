import { describe, expect, it } from "vitest";
import { againMs } from "../src/api/again.ts";

describe("what is asked for again", () => {
  it("is asked soon at first, then ever more seldom, and never not at all", () => {
    const waited = [-5000, 0, 10_000, 19_999, 20_000, 79_999, 80_000, 3_600_000];
    expect(waited.map((each) => againMs({ leastMs: 1000, mostMs: 6000 }, each))).toEqual([
      ...[1000, 1000, 1000, 1000, 2000, 4000, 6000, 6000],
    ]);
  });
});

/** How far a moment is from now. */
import { describe, expect, it } from "vitest";
import { distance } from "../src/moment/moment.ts";

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 22, 10, 42, seconds));

describe("the distance of a moment", () => {
  it.each([
    ["was, by the last tick of the page's clock", 5, "5 s ago"],
    ["is that tick", 10, "now"],
    ["came after that tick, and is no coming one", 12, "now"],
    ["is the present moment", 14, "now"],
    ["is yet to come", 20, "in 10 s"],
  ])("which %s", (_, seconds, words) => {
    expect(distance(at(seconds), at(10), at(14))).toBe(words);
  });
});

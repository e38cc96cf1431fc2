import { expect, it } from "vitest";
import { drawSeed } from "./dedupe.ts";

it("E4: every drawing gives another seed, in both of its halves", () => {
  const seeds = Array.from({ length: 50 }, drawSeed);
  expect(new Set(seeds.map(({ high }) => high)).size).toBeGreaterThan(48);
  expect(new Set(seeds.map(({ low }) => low)).size).toBeGreaterThan(48);
});

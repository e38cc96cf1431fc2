import { expect, it } from "vitest";
import { clockOf, colorState, distanceOf, momentWithDistance } from "./cell-words.ts";

const NOW_MS = Date.parse("2026-11-22T10:43:30.500Z");

it.each([
  ["2026-11-22T10:41:30.000Z", "2m ago"],
  ["2026-11-22T10:43:30.000Z", "now"],
  ["2026-11-22T10:43:30Z", "now"],
  ["2026-11-22T10:43:29.400Z", "1s ago"],
  ["2026-11-21T10:43:30.000Z", "1d ago"],
  ["2026-11-22T07:00:00.000Z", "3h ago"],
  ["2026-11-22T10:43:50.500Z", "in 20s"],
  ["2026-11-22", "2026-11-22"],
  ["Shop", "Shop"],
])("%s is told as %s", (text, told) => {
  expect(distanceOf(text, NOW_MS)).toBe(told);
});

it("a row that is shown as it comes has the time of day", () => {
  expect([clockOf("2026-11-22T10:41:30.117Z"), clockOf("Shop")]).toEqual(["10:41:30Z", "Shop"]);
});

it("a page of fields has the moment and its distance", () => {
  expect(momentWithDistance("2026-11-22T10:41:30.117Z", NOW_MS)).toBe("2026-11-22 10:41:30 UTC (2m ago)");
  expect(momentWithDistance("Shop", NOW_MS)).toBe("Shop");
});

it("a state has its colour in its column alone, and a state of a later release has none", () => {
  expect(colorState("open", "state")).toBe("\u001b[31mopen\u001b[39m");
  expect([colorState("open", "name"), colorState("later", "state")]).toEqual(["open", "later"]);
});

import { expect, it } from "vitest";
import type { Neighbour } from "./isolation.ts";
import { isolationTable, type Medians } from "./isolation-table.ts";

const ALONE: Medians = { p50Ms: 2, p99Ms: 8, atRate: 2000, atRateP99Ms: 20, overBacklog: 20_000 };
const CROWD: Medians = { ...ALONE, overBacklog: 12_000 };

function cellsOf(sick: Medians): string[] {
  const measured = new Map<Neighbour, Medians>([
    ["none", ALONE],
    ["healthy", CROWD],
    ["hanging", sick],
  ]);
  const row = isolationTable(measured).find((line) => line.startsWith("| hanging |"));
  return (row ?? "").split("|").map((cell) => cell.trim());
}

it("a latency may be 1.5 times what it is alone, or 5 ms more, whichever is larger", () => {
  expect(cellsOf({ ...CROWD, p99Ms: 13, atRateP99Ms: 30 })).toEqual(expect.arrayContaining(["13.0", "30.0"]));
  expect(cellsOf({ ...CROWD, p99Ms: 13, atRateP99Ms: 30 }).filter((cell) => cell === "within")).toHaveLength(4);
  expect(cellsOf({ ...CROWD, p99Ms: 13.1, atRateP99Ms: 30 }).filter((cell) => cell === "**missed**")).toHaveLength(1);
  expect(cellsOf({ ...CROWD, p99Ms: 13, atRateP99Ms: 30.1 }).filter((cell) => cell === "**missed**")).toHaveLength(1);
});

it("a steady rate is compared with what it is alone, a backlog with what it is beside healthy neighbours", () => {
  expect(cellsOf({ ...CROWD, atRate: 1800, overBacklog: 10_800 })).toEqual(
    expect.arrayContaining(["0.90", "0.54", "0.90"]),
  );
  expect(cellsOf({ ...CROWD, atRate: 1800, overBacklog: 10_800 }).filter((cell) => cell === "within")).toHaveLength(4);
  expect(cellsOf({ ...CROWD, atRate: 1799 }).filter((cell) => cell === "**missed**")).toHaveLength(1);
  expect(cellsOf({ ...CROWD, overBacklog: 10_799 }).filter((cell) => cell === "**missed**")).toHaveLength(1);
});

it("a row whose comparison was not measured is left out", () => {
  expect(isolationTable(new Map([["hanging", CROWD]]))).toHaveLength(2);
});

import { expect, it } from "vitest";
import { formatTable } from "./format-table.ts";

it("makes columns as wide as their longest cell and puts numbers to the right", () => {
  const table = formatTable(
    ["type", "ms"],
    [
      ["identify", "7"],
      ["page", "123"],
    ],
  );
  expect(table.split("\n")).toEqual(["type      ms", "--------  ---", "identify    7", "page      123"]);
});

it("leaves an absent cell empty", () => {
  expect(formatTable(["a", "b"], [["x"]])).toBe("a  b\n-  -\nx");
});

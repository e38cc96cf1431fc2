import { describe, expect, it } from "vitest";
import { changesBetween, Secret, userTarget } from "./audited-fields.ts";

describe("what changed", () => {
  it("is each field that differs, with what it was and became", () => {
    const from = { name: "a", enabled: true, urls: [{ url: "x" }] };
    expect(changesBetween(from, { name: "b", enabled: true, urls: [] })).toEqual([
      { field: "name", from: "a", to: "b" },
      { field: "urls", from: '[{"url":"x"}]', to: "[]" },
    ]);
    expect(changesBetween(from, { ...from })).toEqual([]);
  });

  it("is every field of what came or went", () => {
    expect(changesBetween(null, { name: "a", rate: null })).toEqual([{ field: "name", from: null, to: "a" }]);
    expect(changesBetween({ rate: 5 }, null)).toEqual([{ field: "rate", from: "5", to: null }]);
  });

  it("is of a secret only that it changed", () => {
    const one = { key: new Secret("one") };
    expect(changesBetween(one, { key: new Secret("one") })).toEqual([]);
    expect(changesBetween(one, { key: new Secret("two") })).toEqual([{ field: "key", from: "changed", to: "changed" }]);
    expect(changesBetween(null, one)).toEqual([{ field: "key", from: null, to: "changed" }]);
    expect(changesBetween(one, { key: new Secret(null) })).toEqual([{ field: "key", from: "changed", to: null }]);
    expect(changesBetween({ key: new Secret(null) }, null)).toEqual([]);
  });

  it("is cut where it is long", () => {
    const [change] = changesBetween(null, { text: "x".repeat(5000) });
    expect(change?.to).toBe(`${"x".repeat(1000)}…`);
  });
});

it("a user stands in it as what tells nobody who that is, and is found by the id", () => {
  expect(userTarget("user-7")).toMatch(/^user:[0-9a-f]{16}$/);
  expect(userTarget("user-7")).toBe(userTarget("user-7"));
  expect(userTarget("user-8")).not.toBe(userTarget("user-7"));
});

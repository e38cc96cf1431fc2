import { expect, it, vi } from "vitest";
import { findWriteKeys } from "./body-key.ts";

const keysIn = (text: string) => findWriteKeys(Buffer.from(text));

it("keys are found wherever a body names them, as they are when they are read (BK1)", () => {
  expect(keysIn(`{"batch":[{"writeKey" :\n"one"}],"writeKey":"two"}`)).toEqual(["one", "two"]);
  expect(keysIn(`{"writeKey":"\\u006fne"}`)).toEqual(["one"]);
  expect(keysIn(`{"writeKey":"o\\"ne","b":"\\\\"}`)).toEqual([`o"ne`]);
  expect(keysIn(`{"writeKey":"one","b":{"writeKey":"one"}}`)).toEqual(["one"]);
});

it("what no source could have as its key is none (BK1)", () => {
  for (const text of [`{"writeKey":""}`, `{"writeKey":7}`, `{"writeKey"`, `{"writeKey":"one`, `{"writeKey":"\\x"}`]) {
    expect(keysIn(text)).toEqual([]);
  }
  expect(keysIn(`{"writeKey":"${"k".repeat(9_000)}"}`)).toEqual([]);
});

it("names that end like it are none, however many there are (BK1)", () => {
  for (const others of [1, 15, 16, 17, 1_000]) {
    const text = `"rewriteKey":"no",`.repeat(others);
    expect(keysIn(`{${text}"writeKey":"one",${text}"writeKey":"two",${text}"b":0}`)).toEqual(["one", "two"]);
    expect(keysIn(`{${text}"b":0}`)).toEqual([]);
  }
  expect([keysIn(`writeKey":"one"`), keysIn(`"writeKey":"one"`)]).toEqual([[], ["one"]]);
});

it("names that end like it are passed over a bounded number of times, one search for each (BK2)", () => {
  const search = vi.spyOn(Buffer.prototype, "indexOf");
  expect(keysIn(`{${`"rewriteKey":"no",`.repeat(1_000)}"b":0}`)).toEqual([]);
  expect(search.mock.calls.length).toBeLessThan(20);
  search.mockRestore();
});

it("of a thousand names the first eight and the last eight are looked at (BK2)", () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `"writeKey":"k${n}"`);
  const looked = [...Array(8).keys(), ...Array.from({ length: 8 }, (_, n) => 999 - n)];
  expect(keysIn(`{${names.join(",")}}`)).toEqual(looked.map((n) => `k${n}`));
});

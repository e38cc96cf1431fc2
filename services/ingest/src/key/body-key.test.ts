import { expect, it } from "vitest";
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

it("of a thousand names the first eight and the last eight are looked at (BK2)", () => {
  const names = Array.from({ length: 1_000 }, (_, n) => `"writeKey":"k${n}"`);
  const looked = [...Array(8).keys(), ...Array.from({ length: 8 }, (_, n) => 999 - n)];
  expect(keysIn(`{${names.join(",")}}`)).toEqual(looked.map((n) => `k${n}`));
});

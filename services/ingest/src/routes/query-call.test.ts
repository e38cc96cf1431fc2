import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { bytesFromData, callFromBytes, callFromQuery } from "./query-call.ts";

const callFromData = (data: unknown) => callFromBytes(bytesFromData(data));

describe("a call as base64", () => {
  it("comes back whole, also where a + became a blank", () => {
    fc.assert(
      // A key with a backslash trips a fault of V8 13.6: docs/decisions/2026-11-21-keys-with-a-backslash.md.
      fc.property(
        fc.dictionary(
          fc.string().filter((key) => !key.includes("\\")),
          fc.string({ unit: "binary" }),
        ),
        (call) => {
          const whole: unknown = JSON.parse(JSON.stringify(call));
          const encoded = Buffer.from(JSON.stringify(call)).toString("base64");
          expect(callFromData(encoded)).toEqual(whole);
          expect(callFromData(encoded.replaceAll("+", " "))).toEqual(whole);
          expect(callFromData(Buffer.from(JSON.stringify(call)).toString("base64url"))).toEqual(whole);
        },
      ),
    );
  });

  it.each([[undefined], [""], ["???"], [["a", "b"]], [Buffer.from("[1]").toString("base64")]])(
    "is none in %j",
    (data) => {
      expect(callFromData(data)).toBeNull();
    },
  );
});

describe("a call as names and values", () => {
  it("makes objects of names with dots", () => {
    expect(callFromQuery({ event: "E", "properties.plan": "P", "properties.a.b": "1", list: ["x", "y"] })).toEqual({
      event: "E",
      properties: { plan: "P", a: { b: "1" } },
      list: "y",
    });
  });

  it("lets a later name stand over a value that is no object", () => {
    expect(callFromQuery({ a: "1", "a.b": "2" })).toEqual({ a: { b: "2" } });
  });

  it("is none where there are more of them than anyone writes", () => {
    const query = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`properties.p${n}`, "x"]));
    expect(callFromQuery(query(200))).toMatchObject({ properties: { p0: "x", p199: "x" } });
    expect(callFromQuery(query(201))).toBeNull();
  });

  it("defines each name once, and copies nothing that earlier ones made", () => {
    const names = Array.from({ length: 200 }, (_, n) => `properties.p${n}`);
    const define = vi.spyOn(Object, "defineProperty");
    const read = vi.spyOn(Object, "entries");
    try {
      callFromQuery(Object.fromEntries(names.map((name) => [name, "x"])));
      // The object that all of them share is one definition more.
      expect(define).toHaveBeenCalledTimes(names.length + 1);
      expect(read).toHaveBeenCalledTimes(1);
    } finally {
      define.mockRestore();
      read.mockRestore();
    }
  });

  it("changes no prototype, and ignores names of any depth", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc
            .array(fc.constantFrom("__proto__", "constructor", "prototype", "a", ""), { minLength: 1, maxLength: 20 })
            .map((names) => names.join(".")),
          fc.string(),
        ),
        (query) => {
          const call = callFromQuery(query) ?? {};
          expect(JSON.parse(JSON.stringify(call))).toEqual(call);
          expect(Object.keys(Object.prototype)).toEqual([]);
          expect(Object.getPrototypeOf(call)).toBe(Object.prototype);
        },
      ),
    );
  });
});

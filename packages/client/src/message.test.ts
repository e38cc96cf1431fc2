import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnalyticsError } from "./errors.ts";
import { MAX_CALL_BYTES, serializeCall } from "./message.ts";

const DEFAULTS = { messageId: () => "m1", timestamp: () => "2026-11-21T03:04:05.678Z" };

describe("serializeCall", () => {
  it("counts the bytes of the text exactly, and lets none pass the limit", () => {
    // A key with a backslash trips a fault of V8 13.6: docs/decisions/2026-11-21-keys-with-a-backslash.md.
    const properties = fc
      .dictionary(fc.string({ unit: "binary" }), fc.jsonValue())
      .filter((values) => !JSON.stringify(values).includes("\\\\"));
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), properties, (userId, values) => {
        const { text, bytes } = serializeCall("track", { userId, event: "E", properties: values }, DEFAULTS);
        expect(bytes).toBe(Buffer.byteLength(text, "utf8"));
        expect(bytes).toBeLessThanOrEqual(MAX_CALL_BYTES);
        expect(JSON.parse(text).properties).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  it("throws nothing but AnalyticsError, whatever a caller without types hands it", () => {
    const kinds = fc.constantFrom("identify", "track", "page", "screen", "group", "alias");
    fc.assert(
      fc.property(kinds, fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true }), (kind, value) => {
        for (const call of [value, { userId: "u1", event: "E", groupId: "g", traits: value, context: value }]) {
          try {
            serializeCall(kind, call as never, DEFAULTS);
          } catch (error) {
            expect(error).toBeInstanceOf(AnalyticsError);
          }
        }
      }),
    );
  });

  it.each([
    ["a cycle", () => Object.assign({}, { self: undefined }), "properties"],
    ["a BigInt", () => ({ big: 1n }), "properties"],
    ["a toJSON that throws", () => ({ toJSON: fail }), "properties"],
    [
      "a getter that throws",
      () =>
        Object.defineProperty({}, "x", {
          enumerable: true,
          get: fail,
        }),
      "properties",
    ],
  ])("names the field that holds %s", (what, make, field) => {
    const properties: Record<string, unknown> = make();
    if (what === "a cycle") properties["self"] = properties;
    const call = { userId: "u1", event: "E", properties };
    expect(() => serializeCall("track", call, DEFAULTS)).toThrow(`track: ${field} cannot be written as JSON`);
  });

  it("refuses a call whose own fields cannot be read", () => {
    const call = Object.defineProperty({}, "userId", { get: fail });
    expect(() => serializeCall("track", call, DEFAULTS)).toThrow("track: the call cannot be written as JSON");
  });

  it.each([undefined, null, 7, "text"])("refuses %s in place of a call", (call) => {
    expect(() => serializeCall("page", call as never, DEFAULTS)).toThrow("page takes an object");
  });

  it("refuses a Date that is no moment", () => {
    const call = { userId: "u1", event: "E", timestamp: new Date(Number.NaN) };
    expect(() => serializeCall("track", call, DEFAULTS)).toThrow("timestamp must be an ISO 8601 date and time");
  });

  it("takes null and the empty string as fields that were left out", () => {
    const call = { userId: null, anonymousId: "a1", name: "", category: null, properties: null, timestamp: "" };
    expect(JSON.parse(serializeCall("page", call, DEFAULTS).text)).toEqual({
      type: "page",
      messageId: "m1",
      timestamp: "2026-11-21T03:04:05.678Z",
      anonymousId: "a1",
      context: { library: { name: "posthaste-js", version: "0.1.0" } },
    });
  });

  it("makes no message id for a call that is refused", () => {
    const messageId = () => fail();
    expect(() => serializeCall("track", { event: "E" }, { ...DEFAULTS, messageId })).toThrow(AnalyticsError);
  });
});

function fail(): never {
  throw new Error("on purpose");
}

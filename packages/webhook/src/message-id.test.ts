import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageIdHeader } from "./message-id.ts";

describe("messageIdHeader", () => {
  it.each(["ajs-next-1700000000000-2b8c", "5f0c1f4e-7f3a-4b53-9f6e-3b1f2f7b9d10", "a,b;c=d/e"])(
    "leaves an ordinary id as it is: %s",
    (id) => {
      expect(messageIdHeader(id)).toBe(id);
    },
  );

  it("encodes what a header cannot hold", () => {
    expect(messageIdHeader("a b")).toBe("a%20b");
    expect(messageIdHeader("é\r\n100%")).toBe("%C3%A9%0D%0A100%25");
  });

  it("stays short for an id of any length", () => {
    const header = messageIdHeader("é".repeat(10_000));
    expect(header).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(messageIdHeader("x".repeat(256))).toBe("x".repeat(256));
    expect(messageIdHeader("x".repeat(257))).toMatch(/^sha256:/);
  });

  it("is printable ASCII, the same for the same id and different for different ids", () => {
    const id = fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(id, id, (left, right) => {
        expect(messageIdHeader(left)).toMatch(/^[\x21-\x7e]{1,256}$/);
        expect(messageIdHeader(left) === messageIdHeader(right)).toBe(left === right);
      }),
    );
  });
});

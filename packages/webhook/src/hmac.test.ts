import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { HmacSha1 } from "./hmac.ts";

it("signs as node:crypto does, for keys shorter and longer than a block", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 3000 }), (key, message) => {
      const expected = createHmac("sha1", key).update(message).digest("hex");
      expect(new HmacSha1(Buffer.from(key)).sign(message)).toBe(expected);
    }),
    { examples: [0, 63, 64, 65].map((length) => [new Uint8Array(length).fill(7), new Uint8Array(5)]) },
  );
});

it.each([0, 65_535, 65_536, 65_537, 600_000])("signs a message of %d bytes as node:crypto does", (length) => {
  const message = Buffer.alloc(length, "message");
  expect(new HmacSha1(Buffer.from("key")).sign(message)).toBe(createHmac("sha1", "key").update(message).digest("hex"));
});

it("keeps two keys apart that sign in turns, and leaves nothing of a longer message in the next", () => {
  const [one, two] = [new HmacSha1(Buffer.from("one")), new HmacSha1(Buffer.from("two"))];
  const long = Buffer.from("a longer message");
  const short = Buffer.from("short");
  expect([one.sign(long), two.sign(short), one.sign(short)]).toEqual([
    createHmac("sha1", "one").update(long).digest("hex"),
    createHmac("sha1", "two").update(short).digest("hex"),
    createHmac("sha1", "one").update(short).digest("hex"),
  ]);
});

import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32c } from "./crc32c.ts";

const kafkajsCrc32c: (bytes: Uint8Array) => number = createRequire(import.meta.url)(
  "kafkajs/src/protocol/recordBatch/crc32C/index.js",
);

describe("the checksum of a record batch", () => {
  it("is that of the standard's examples", () => {
    expect(crc32c(Buffer.from("123456789"))).toBe(0xe3069283);
    expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
    expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43);
    expect(crc32c(Buffer.alloc(0))).toBe(0);
  });

  it("is what kafkajs computes, for any part of any bytes", () => {
    const property = fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), fc.nat(300), (bytes, a, b) => {
      const [start = 0, end = 0] = [a, b].map((at) => Math.min(at, bytes.length)).sort((x, y) => x - y);
      expect(crc32c(bytes, start, end)).toBe(kafkajsCrc32c(bytes.subarray(start, end)));
    });
    fc.assert(property, { numRuns: 500 });
  });
});

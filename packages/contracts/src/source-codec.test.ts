import type { Source } from "@posthaste/core/config/source";
import { expect, it } from "vitest";
import { createSourceCodec } from "./source-codec.ts";

it("decodes to plain values, whatever classes the Avro library made", () => {
  class WriteKeyRecord {
    readonly key = "wk";
    readonly expiresAtMs = null;
  }
  class SourceRecord {
    readonly id = "src_1";
    readonly revision = 3;
    readonly name = "site";
    readonly kind = "web";
    readonly enabled = true;
    readonly writeKeys = [new WriteKeyRecord()];
    readonly createdAtMs = 1;
    readonly updatedAtMs = 2;
  }
  const source: Source = new SourceRecord();
  const codec = createSourceCodec({ encode: () => Buffer.of(), decode: () => source, prefetch: () => undefined });
  expect(codec.decode(Buffer.of())).toStrictEqual({ ...source, writeKeys: [{ key: "wk", expiresAtMs: null }] });
});

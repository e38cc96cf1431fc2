import type { Audience } from "@posthaste/core/audience/audience";
import { expect, it } from "vitest";
import { createAudienceCodec } from "./audience-codec.ts";

it("decodes to plain values, whatever classes the Avro library made", () => {
  class SyncLease {
    readonly holder = "h";
    readonly sinceMs = 1;
    readonly untilMs = 2;
  }
  class AudienceRecord {
    readonly id = "aud_1";
    readonly revision = 3;
    readonly kind = "audience";
    readonly name = "VIP";
    readonly trait = "vip";
    readonly sourceId = "src_1";
    readonly bornRevision = 2;
    readonly lease = new SyncLease();
    readonly lastSync = null;
    readonly isRemoved = false;
    readonly createdAtMs = 1;
    readonly updatedAtMs = 2;
  }
  const audience: Audience = new AudienceRecord();
  const codec = createAudienceCodec({ encode: () => Buffer.of(), decode: () => audience, prefetch: () => undefined });
  expect(codec.decode(Buffer.of())).toStrictEqual({ ...audience, lease: { holder: "h", sinceMs: 1, untilMs: 2 } });
});

/** Audiences as records of `posthaste.audience-config`. */
import type { Audience } from "@posthaste/core/audience/audience";
import { type Codec, withDecoded } from "./codec.ts";

/** The record of `schemas/audience.avsc`, which has the same fields as an audience in control's memory. */
export type AudienceRecord = Audience;

/** Codec of audiences. It decodes to plain objects that share nothing with the Avro library's record classes. */
export function createAudienceCodec(raw: Codec<AudienceRecord>): Codec<Audience> {
  return withDecoded<AudienceRecord, Audience>(raw, (record) => {
    const { lease, lastSync } = record;
    return {
      ...record,
      lease: lease === null ? null : { ...lease },
      lastSync: lastSync === null ? null : { ...lastSync },
    };
  });
}

/** Sources as records of `posthaste.source-config`. */
import type { Source } from "@posthaste/core/config/source";
import type { Codec } from "./codec.ts";

/** The record of `schemas/source.avsc`; field by field what services hold in memory. */
export type SourceRecord = Source;

/** Codec of sources. What it decodes are plain values that share nothing with the Avro library's record classes. */
export function createSourceCodec(raw: Codec<SourceRecord>): Codec<Source> {
  return {
    encode: raw.encode,
    prefetch: raw.prefetch,
    decode: (bytes) => {
      const record = raw.decode(bytes);
      return {
        id: record.id,
        revision: record.revision,
        name: record.name,
        kind: record.kind,
        enabled: record.enabled,
        writeKeys: record.writeKeys.map(({ key, expiresAtMs }) => ({ key, expiresAtMs })),
        createdAtMs: record.createdAtMs,
        updatedAtMs: record.updatedAtMs,
      };
    },
  };
}

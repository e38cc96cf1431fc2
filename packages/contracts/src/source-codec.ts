/** Sources as records of `posthaste.source-config`. */
import type { Source } from "@posthaste/core/config/source";
import { type Codec, withDecoded } from "./codec.ts";

/** The record of `schemas/source.avsc`, which has the same fields as a source in a service's memory. */
export type SourceRecord = Source;

/** Codec of sources. It decodes to plain objects that share nothing with the Avro library's record classes. */
export function createSourceCodec(raw: Codec<SourceRecord>): Codec<Source> {
  return withDecoded<SourceRecord, Source>(raw, (record) => ({
    id: record.id,
    revision: record.revision,
    name: record.name,
    kind: record.kind,
    enabled: record.enabled,
    writeKeys: record.writeKeys.map(({ key, expiresAtMs }) => ({ key, expiresAtMs })),
    createdAtMs: record.createdAtMs,
    updatedAtMs: record.updatedAtMs,
  }));
}

/** Tokens, sign-in links and sessions as records of `posthaste.tokens`. */
import type { AccessRecord } from "@posthaste/core/access/access-record";
import { SCOPES, type Scope } from "@posthaste/core/access/scope";
import { type Codec, withDecoded } from "./codec.ts";

/** The record of `schemas/token.avsc`. A scope that only a later version knows reads as `other`. */
export interface AvroAccessRecord extends Omit<AccessRecord, "scopes"> {
  readonly scopes: readonly (Scope | "other")[];
}

/** Codec of access records. It decodes to plain objects, without scopes that this version does not know. */
export function createAccessCodec(raw: Codec<AvroAccessRecord>): Codec<AccessRecord> {
  return withDecoded<AvroAccessRecord, AccessRecord>(raw, (record) => ({
    id: record.id,
    revision: record.revision,
    kind: record.kind,
    name: record.name,
    hash: record.hash,
    scopes: SCOPES.filter((scope) => record.scopes.includes(scope)),
    tokenId: record.tokenId,
    adminMark: record.adminMark,
    createdAtMs: record.createdAtMs,
    createdBy: record.createdBy,
    expiresAtMs: record.expiresAtMs,
    usedAtMs: record.usedAtMs,
  }));
}

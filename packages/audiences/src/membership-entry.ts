/** A record of `posthaste.audiences` as the membership's table takes it. */
import type { Codec } from "@posthaste/contracts/codec";
import { headerText, REVISION_HEADER } from "@posthaste/contracts/headers";
import type { MemberRecord, MembershipRecord } from "@posthaste/core/audience/membership";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

export type MembershipEntry =
  | ({ readonly what: "member"; readonly audienceId: string; readonly userId: string } & MemberRecord)
  | { readonly what: "fence"; readonly audienceId: string; readonly revision: number; readonly bornRevision: number }
  /** A tombstone: the audience was removed. */
  | { readonly what: "removed"; readonly audienceId: string; readonly userId: string; readonly revision: number };

/** The key of a user's record. A fence has the audience's id alone for its key. */
export function membershipKey(audienceId: string, userId: string): string {
  return `${audienceId}:${userId}`;
}

/** Reads a record; null for a record without meaning. Throws the codec's errors. */
export function toMembershipEntry(record: IncomingRecord, codec: Codec<MembershipRecord>): MembershipEntry | null {
  if (record.value === null) return tombstone(record);
  const { audienceId, kind, userId, valueJson, revision, bornRevision, changedAtMs } = codec.decode(record.value);
  if (userId === null || valueJson === null) return { what: "fence", audienceId, revision, bornRevision };
  return { what: "member", audienceId, kind, userId, valueJson, revision, changedAtMs };
}

function tombstone({ key, headers }: IncomingRecord): MembershipEntry | null {
  const [, audienceId, userId] = /^([^:]+):(.+)$/s.exec(key?.toString() ?? "") ?? [];
  if (audienceId === undefined || userId === undefined) return null;
  return { what: "removed", audienceId, userId, revision: Number(headerText(headers, REVISION_HEADER) ?? 0) };
}

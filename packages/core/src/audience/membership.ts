/**
 * The records of `posthaste.audiences`, the state that a reader keeps of them, and the records that a sync adds.
 *
 * A record holds the new value of one user's trait, and its time; an emitter makes an identify of each record. A reader
 * keeps the newest record of each user, and these are the membership.
 *
 * U1  One sync at a time writes an audience. Its records have the revision with which it took its lease, which rises
 *     from sync to sync, and each record has a later time than all that were seen of its user.
 * U2  A sync begins with a fence in every partition, that is, a record of its revision that names no user, and reads
 *     the topic to behind its fences before it compares. So whatever an earlier sync wrote is either known to it or
 *     stands behind a fence.
 * U3  A record is stale when it stands behind a fence of a higher revision, or behind a newer record of the same user:
 *     a process that was given up wrote it, or a batch that its producer had given up. It changes nothing that is kept,
 *     but it is emitted, with its own time. So the reader marks the user, and the next sync writes the kept value once
 *     more with a later time than the stale record's.
 * U4  The records of a removed audience of the same name (a revision below the fence's `bornRevision`) count for
 *     nothing.
 *
 * So in the end the identify with the newest time has the value that the last whole sync gave the user.
 */
import type { AudienceKind } from "./audience.ts";

/** One record of `posthaste.audiences`; `schemas/membership.avsc` defines its fields. */
export interface MembershipRecord {
  readonly audienceId: string;
  readonly kind: AudienceKind;
  readonly sourceId: string;
  readonly trait: string;
  /** The revision that the sync took its lease with (U1). */
  readonly revision: number;
  /** The audience's first revision (U4). */
  readonly bornRevision: number;
  /** Null in a fence (U2). */
  readonly userId: string | null;
  /** A fragment of JSON, `true` or `false` for an audience; null in a fence. */
  readonly valueJson: string | null;
  /** The identify's timestamp, in ms since the epoch. It rises with every record of a user that is not stale. */
  readonly changedAtMs: number;
}

/** A reader's state of an audience's fences in one partition. */
export interface Fence {
  readonly revision: number;
  readonly bornRevision: number;
}

/** A reader's state of one user. */
export interface HeldMember {
  readonly valueJson: string;
  readonly revision: number;
  readonly changedAtMs: number;
  /** The latest time of all records that were seen of the user, stale ones included. */
  readonly newestMs: number;
  /** The partition of the user's newest record. */
  readonly partition: number;
  /** The kept value is to be written once more (U3). */
  readonly isStale: boolean;
}

/** The value of a user that no record names: not in an audience; no value of a computed trait. */
export function absentValue(kind: AudienceKind): string | null {
  return kind === "audience" ? "false" : null;
}

export type FenceRecord = Pick<MembershipRecord, "revision" | "bornRevision">;

/** The state of an audience's fences after one more fence. */
export function holdFence({ revision, bornRevision }: FenceRecord, held: Fence | undefined): Fence {
  return {
    revision: Math.max(revision, held?.revision ?? 0),
    bornRevision: Math.max(bornRevision, held?.bornRevision ?? 0),
  };
}

export type MemberRecord = Pick<MembershipRecord, "kind" | "revision" | "changedAtMs"> & { readonly valueJson: string };

/** The state of a user after one of the user's records; undefined for none. */
export function holdMember(
  record: MemberRecord,
  partition: number,
  { held, fence }: { readonly held: HeldMember | undefined; readonly fence: Fence | undefined },
): HeldMember | undefined {
  const { kind, revision, changedAtMs, valueJson } = record;
  // U4.
  if (fence !== undefined && revision < fence.bornRevision) return held;
  const order = held === undefined ? 1 : revision - held.revision || changedAtMs - held.changedAtMs;
  // A producer sent a batch twice.
  if (order === 0) return held;
  // The topic got more partitions since: the user's record in the old partition is older, and no compaction removes it.
  if (held !== undefined && order < 0 && held.partition !== partition) return held;
  const newestMs = Math.max(changedAtMs, held?.newestMs ?? 0);
  if (order < 0 || (fence !== undefined && revision < fence.revision)) {
    if (held !== undefined) return { ...held, newestMs, isStale: true };
    const absent = absentValue(kind);
    if (absent !== null) {
      return {
        valueJson: absent,
        revision: fence?.revision ?? revision,
        changedAtMs: 0,
        newestMs,
        partition,
        isStale: true,
      };
    }
  }
  // The writer of this record did not know of a stale record with a later time.
  const isStale = held !== undefined && changedAtMs <= held.newestMs;
  return { valueJson, revision, changedAtMs, newestMs, partition, isStale };
}

/** The value to write so that a user has `wanted`; null where the user has it already. */
export function changeOf(
  kind: AudienceKind,
  wanted: string,
  held: Pick<HeldMember, "valueJson" | "isStale"> | undefined,
): string | null {
  if (held?.isStale === true) return wanted;
  return wanted === (held?.valueJson ?? absentValue(kind)) ? null : wanted;
}

/** U1: the time of a new record. */
export function changeTimeMs(nowMs: number, held: Pick<HeldMember, "newestMs"> | undefined): number {
  return held === undefined ? nowMs : Math.max(nowMs, held.newestMs + 1);
}

/**
 * What stands in `posthaste.audiences`, what a reader makes of it, and what a sync adds to it.
 *
 * A record says what one user's trait became, and when: it is the difference, of which an emitter makes an identify. A
 * reader of the topic holds for each user the newest record, and that is the membership.
 *
 * U1  Of an audience one sync writes at a time. Its records bear the revision that it took its lease with, which rises
 *     from sync to sync, and each a later time than all that were seen of the user.
 * U2  A sync begins with a fence in every partition, a record of its revision that names no user, and reads the topic
 *     to behind its fences before it compares. So what an earlier sync wrote is either known to it or stands behind a
 *     fence.
 * U3  A record that stands behind a fence of a higher revision, or of a record of the same user that is newer, is
 *     stale: a process that was given up wrote it, or a producer's batch that was. It changes nothing that is held, but
 *     it is emitted, with its own time. So the user is marked, and the next writer writes what is held once more with a
 *     later time than the stale record's.
 * U4  What an audience of the same name had that was removed (a revision below the fence's `bornRevision`) counts for
 *     nothing.
 * So in the end the identify with the newest time has the value that the last whole sync gave the user.
 */
import type { AudienceKind } from "./audience.ts";

/** One record of `posthaste.audiences`; its fields are those of `schemas/membership.avsc`. */
export interface MembershipRecord {
  readonly audienceId: string;
  readonly kind: AudienceKind;
  readonly sourceId: string;
  readonly trait: string;
  /** The revision that the sync took its lease with (U1). */
  readonly revision: number;
  /** That of the audience (U4). */
  readonly bornRevision: number;
  /** Null in a fence (U2). */
  readonly userId: string | null;
  /** A fragment of JSON: for an audience `true` or `false`. Null in a fence. */
  readonly valueJson: string | null;
  /** Ms since the epoch; the identify's timestamp. Of one user it rises with every record that is not stale. */
  readonly changedAtMs: number;
}

/** What is held of the fences of an audience in one partition. */
export interface Fence {
  readonly revision: number;
  readonly bornRevision: number;
}

/** What is held of one user. */
export interface HeldMember {
  readonly valueJson: string;
  readonly revision: number;
  readonly changedAtMs: number;
  /** The latest time of all records that were seen of the user, stale ones included. */
  readonly newestMs: number;
  /** Where its record stands. */
  readonly partition: number;
  /** To be written once more (U3). */
  readonly isStale: boolean;
}

/** What nobody ever said of a user: not in an audience, and without a value of a computed trait. */
export function absentValue(kind: AudienceKind): string | null {
  return kind === "audience" ? "false" : null;
}

export type FenceRecord = Pick<MembershipRecord, "revision" | "bornRevision">;

/** The fence of an audience in a partition after another one there. */
export function holdFence({ revision, bornRevision }: FenceRecord, held: Fence | undefined): Fence {
  return {
    revision: Math.max(revision, held?.revision ?? 0),
    bornRevision: Math.max(bornRevision, held?.bornRevision ?? 0),
  };
}

export type MemberRecord = Pick<MembershipRecord, "kind" | "revision" | "changedAtMs"> & { readonly valueJson: string };

/** What is held of a user after a record of theirs; undefined for nothing. */
export function holdMember(
  record: MemberRecord,
  partition: number,
  { held, fence }: { readonly held: HeldMember | undefined; readonly fence: Fence | undefined },
): HeldMember | undefined {
  const { kind, revision, changedAtMs, valueJson } = record;
  // U4.
  if (fence !== undefined && revision < fence.bornRevision) return held;
  const order = held === undefined ? 1 : revision - held.revision || changedAtMs - held.changedAtMs;
  // A batch that was sent twice.
  if (order === 0) return held;
  // The topic was given more partitions since: what stands in the one of before is older, and no compaction drops it.
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
  // Its writer did not know of a stale record that has a later time.
  const isStale = held !== undefined && changedAtMs <= held.newestMs;
  return { valueJson, revision, changedAtMs, newestMs, partition, isStale };
}

/** The value to write for a user for whom `wanted` is said; null where that is held already. */
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

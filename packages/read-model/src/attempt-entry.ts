/** Attempts and first deferrals as entries of their projections, and back. */
import type { AttemptBatch, AttemptRecord, DeferralRecord } from "@posthaste/core/delivery/attempt-record";
import type { ProjectionCursor, ProjectionEntry } from "./projection-entry.ts";

/** The fields for which the projection has no column. */
type AttemptDetail = Omit<AttemptRecord, "startedAtMs" | "destinationId" | "outcome" | "messageId">;

/** The entries of a record's attempts; an entry's place is the attempt's index in the record. */
export function attemptEntries(
  { attempts }: Pick<AttemptBatch, "attempts">,
  { partition, offset }: Pick<ProjectionCursor, "partition" | "offset">,
): readonly ProjectionEntry[] {
  return attempts.map((attempt, place) => {
    const { startedAtMs: timeMs, destinationId, outcome: kind, messageId } = attempt;
    const detail = JSON.stringify(detailOf(attempt));
    return { timeMs, partition, offset, place, destinationId, kind, messageId, detail, users: "" };
  });
}

/** Each field by its name: the rest of a destructured attempt takes several times as long to make. */
function detailOf(attempt: AttemptRecord): AttemptDetail {
  return {
    sourceId: attempt.sourceId,
    type: attempt.type,
    attempt: attempt.attempt,
    urls: attempt.urls,
    receivedAtMs: attempt.receivedAtMs,
    userKey: attempt.userKey,
    event: attempt.event,
    originPartition: attempt.originPartition,
    originOffset: attempt.originOffset,
    configOffset: attempt.configOffset,
    recordDelayMs: attempt.recordDelayMs,
    recordPartition: attempt.recordPartition,
    recordOffset: attempt.recordOffset,
    recordTimestampMs: attempt.recordTimestampMs,
    deferrals: attempt.deferrals,
    replayId: attempt.replayId,
    followUps: attempt.followUps,
    bodyBytes: attempt.bodyBytes,
  };
}

/** Reads an entry of `attemptEntries`. */
export function attemptFromEntry({ timeMs, destinationId, kind, messageId, detail }: ProjectionEntry): AttemptRecord {
  // The projection holds the detail that `attemptEntries` wrote.
  const { bodyBytes = null, ...rest } = JSON.parse(detail) as AttemptDetail;
  return {
    ...rest,
    bodyBytes,
    messageId,
    destinationId,
    startedAtMs: timeMs,
    outcome: kind as AttemptRecord["outcome"],
  };
}

/** The fields for which the projection has no column. */
type DeferralDetail = Omit<DeferralRecord, "deferredAtMs" | "destinationId" | "cause" | "messageId">;

/** The entries of a record's first deferrals; an entry's place is the deferral's index among them. */
export function deferralEntries(
  { deferrals }: Pick<AttemptBatch, "deferrals">,
  { partition, offset }: Pick<ProjectionCursor, "partition" | "offset">,
): readonly ProjectionEntry[] {
  return deferrals.map(({ deferredAtMs, destinationId, cause, messageId, ...rest }, place) => {
    const detail: DeferralDetail = rest;
    const named = { partition, offset, place, destinationId, messageId };
    return { ...named, timeMs: deferredAtMs, kind: cause, detail: JSON.stringify(detail), users: "" };
  });
}

/** Reads an entry of `deferralEntries`. */
export function deferralFromEntry({ timeMs, destinationId, kind, messageId, detail }: ProjectionEntry): DeferralRecord {
  const rest = JSON.parse(detail) as DeferralDetail;
  return { ...rest, messageId, destinationId, deferredAtMs: timeMs, cause: kind as DeferralRecord["cause"] };
}

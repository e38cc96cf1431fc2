/**
 * Revisions of destinations as entries of their projection, and back: each revision's state, with the offset of its
 * record.
 */
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import { headerText, parseWhole, REVISION_HEADER } from "@posthaste/contracts/headers";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { ProjectionEntry } from "./projection-entry.ts";

export const DESTINATION_STATES = ["on", "off", "removed"] as const;
export type DestinationState = (typeof DESTINATION_STATES)[number];

export interface DestinationRevision {
  readonly destinationId: string;
  readonly state: DestinationState;
  /** The offset of the record in `posthaste.destination-config`. */
  readonly offset: number;
  readonly atMs: number;
  readonly revision: number;
  readonly sourceIds: readonly string[];
}

type RevisionDetail = Pick<DestinationRevision, "revision" | "sourceIds">;

/** `value`: null for a record that removes the destination. */
export function destinationEntries(
  value: Pick<DestinationRecord, "enabled" | "sourceIds" | "revision" | "updatedAtMs"> | null,
  { partition, offset, key, timestampMs, headers }: Omit<IncomingRecord, "topic" | "value">,
): readonly ProjectionEntry[] {
  if (key === null) return [];
  const named = { partition, offset, place: 0, destinationId: key.toString(), messageId: "", users: "" };
  if (value === null) {
    const detail: RevisionDetail = { revision: parseWhole(headerText(headers, REVISION_HEADER)) ?? 0, sourceIds: [] };
    return [{ ...named, timeMs: timestampMs, kind: "removed", detail: JSON.stringify(detail) }];
  }
  const { enabled, sourceIds, revision, updatedAtMs } = value;
  const detail: RevisionDetail = { revision, sourceIds };
  return [{ ...named, timeMs: updatedAtMs, kind: enabled ? "on" : "off", detail: JSON.stringify(detail) }];
}

/** Reads an entry of `destinationEntries`. */
export function destinationFromEntry(entry: ProjectionEntry): DestinationRevision {
  const { timeMs: atMs, offset, destinationId, kind, detail } = entry;
  const { revision, sourceIds } = JSON.parse(detail) as RevisionDetail;
  return { destinationId, state: kind as DestinationState, offset, atMs, revision, sourceIds };
}

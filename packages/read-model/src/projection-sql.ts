/** A projection's filters as SQL, and a row as an entry. */
import type { SQLInputValue } from "node:sqlite";
import type { MessageIndex } from "./message-index.ts";
import type { ProjectionEntry, ProjectionFilter, ProjectionQuery } from "./projection-entry.ts";

/** The order of a list: the newest first. */
export const NEWEST_FIRST = "time DESC, log_partition DESC, log_offset DESC, place DESC";

/** `horizonMs`: the projection shows no older entries. */
export function conditionsOf(
  filter: ProjectionFilter & Pick<ProjectionQuery, "after">,
  horizonMs: number,
  messages: MessageIndex,
): { readonly conditions: string[]; readonly values: SQLInputValue[] } {
  const conditions = ["time >= ?"];
  const values: SQLInputValue[] = [Math.max(filter.sinceMs ?? 0, horizonMs)];
  const add = (condition: string, value: SQLInputValue | undefined): void => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add("time < ?", filter.untilMs);
  add("destination_id = ?", filter.destinationId);
  add("kind = ?", filter.kind);
  if (filter.messageId !== undefined) {
    add("segment IN (SELECT value FROM json_each(?))", messages.segmentsOf([filter.messageId]));
    add("message_id = ?", filter.messageId);
  }
  const ids = filter.destinationIds;
  add("destination_id IN (SELECT value FROM json_each(?))", ids === undefined ? ids : JSON.stringify(ids));
  const { after } = filter;
  if (after !== undefined) {
    conditions.push("(time, log_partition, log_offset, place) < (?, ?, ?, ?)");
    values.push(after.timeMs, after.partition, after.offset, after.place);
  }
  return { conditions, values };
}

/**
 * JN4 of projection.ts. The index is named here: without statistics, SQLite's planner prefers two equalities to one
 *     message id.
 */
export function indexOf(name: string, { destinationId, kind, messageId }: ProjectionFilter): string {
  if (messageId !== undefined) return `INDEXED BY ${name}_by_message`;
  if (destinationId !== undefined) return `INDEXED BY ${name}_by_destination`;
  return kind === undefined ? "NOT INDEXED" : `INDEXED BY ${name}_by_kind`;
}

export function toEntry(row: Record<string, unknown>): ProjectionEntry {
  const entry = {
    timeMs: Number(row["time"]),
    partition: Number(row["log_partition"]),
    offset: Number(row["log_offset"]),
    place: Number(row["place"]),
    destinationId: String(row["destination_id"]),
    kind: String(row["kind"]),
    messageId: String(row["message_id"]),
    detail: String(row["detail"]),
    users: usersOf(row["users"]),
  };
  const mark = Number(row["mark"] ?? 0);
  return mark === 0 ? entry : { ...entry, mark };
}

function usersOf(blob: unknown): string {
  return blob instanceof Uint8Array ? Buffer.from(blob).toString("latin1") : "";
}

/** Records that nobody can read: told from a registry that does not answer, and counted. */
import { isPosthasteError, type PosthasteError } from "@posthaste/core/errors";
import type { KafkaMetrics } from "../connection/metrics.ts";
import { isFramed } from "./confluent-frame.ts";

/**
 * `not_framed`: no schema id; `unknown_schema`: the registry has none of that id; `not_of_schema`: of another, or no
 * value of it.
 */
const UNREADABLE_REASONS = ["not_framed", "unknown_schema", "not_of_schema"] as const;
type UnreadableReason = (typeof UNREADABLE_REASONS)[number];

/**
 * True for what a codec says of bytes that it will never read; false for a registry that may answer later, and for a
 * bug.
 */
export function isUnreadable(error: unknown): error is PosthasteError {
  return isPosthasteError(error, "invalid_input") || isPosthasteError(error, "unknown_schema");
}

/** Sets every reason to 0, so that a rate sees the first record. */
export function startUnreadableCount(metrics: KafkaMetrics | undefined, topic: string): void {
  for (const reason of UNREADABLE_REASONS) metrics?.unreadableRecords.inc({ topic, reason }, 0);
}

/** Counts a record whose bytes `error` was thrown for. */
export function countUnreadable(
  metrics: KafkaMetrics | undefined,
  topic: string,
  { bytes, error }: { readonly bytes: Buffer; readonly error: PosthasteError },
): void {
  metrics?.unreadableRecords.inc({ topic, reason: reasonOf(bytes, error) });
}

function reasonOf(bytes: Buffer, { code }: PosthasteError): UnreadableReason {
  if (code === "unknown_schema") return "unknown_schema";
  return isFramed(bytes) ? "not_of_schema" : "not_framed";
}

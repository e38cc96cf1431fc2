/** Records that nobody can read: told from a registry that does not answer, and counted. */
import type { Codec } from "@posthaste/contracts/codec";
import { UNREADABLE_REASONS, type UnreadableReason } from "@posthaste/contracts/unreadable-headers";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { KafkaMetrics } from "../connection/metrics.ts";
import { isFramed } from "./confluent-frame.ts";

/**
 * True for what a codec says of bytes that it will never read; false for a registry that may answer later, and for a
 * bug.
 */
export function isUnreadable(error: unknown): error is PosthasteError {
  return isPosthasteError(error, "invalid_input") || isPosthasteError(error, "unknown_schema");
}

/**
 * What a codec reads of a record's value, or why it never will. Throws what is neither: a bug. A record without a value
 * has nothing to read.
 */
export function decodeOrReason<T>(codec: Codec<T>, value: Buffer | null): T | PosthasteError {
  if (value === null) return new PosthasteError("invalid_input", "a record without a value");
  try {
    return codec.decode(value);
  } catch (error) {
    if (isUnreadable(error)) return error;
    throw error;
  }
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

/** Why `error` was thrown for these bytes. */
export function reasonOf(bytes: Buffer, { code }: PosthasteError): UnreadableReason {
  if (code === "unknown_schema") return "unknown_schema";
  return isFramed(bytes) ? "not_of_schema" : "not_framed";
}

/** Tells unreadable records from a registry that does not answer, and counts them. */
import type { Codec } from "@posthaste/contracts/codec";
import { UNREADABLE_REASONS, type UnreadableReason } from "@posthaste/contracts/unreadable-headers";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { KafkaMetrics } from "../connection/metrics.ts";
import { isFramed } from "./confluent-frame.ts";

/**
 * True for the error that a codec throws for bytes that it will never be able to read; false for a registry that may
 * answer later, and for a bug.
 */
export function isUnreadable(error: unknown): error is PosthasteError {
  return isPosthasteError(error, "invalid_input") || isPosthasteError(error, "unknown_schema");
}

/**
 * Returns the value that a codec reads from a record, or the error for which it never will. Throws any other error,
 * which is a bug. A record without a value has nothing to read.
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

/** Sets the count of every reason to 0, so that a rate over the counter sees the first record. */
export function startUnreadableCount(metrics: KafkaMetrics | undefined, topic: string): void {
  for (const reason of UNREADABLE_REASONS) metrics?.unreadableRecords.inc({ topic, reason }, 0);
}

/** Counts a record for whose bytes a codec threw `error`. */
export function countUnreadable(
  metrics: KafkaMetrics | undefined,
  topic: string,
  { bytes, error }: { readonly bytes: Buffer; readonly error: PosthasteError },
): void {
  metrics?.unreadableRecords.inc({ topic, reason: reasonOf(bytes, error) });
}

/** The reason for which a codec threw `error` for these bytes. */
export function reasonOf(bytes: Buffer, { code }: PosthasteError): UnreadableReason {
  if (code === "unknown_schema") return "unknown_schema";
  return isFramed(bytes) ? "not_of_schema" : "not_framed";
}

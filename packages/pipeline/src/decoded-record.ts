/** Decodes a record's value for a search through many records. */
import type { Codec } from "@posthaste/contracts/codec";
import { isUnreadable } from "@posthaste/kafka/codec/unreadable";

/**
 * Null for a record without a value and for a value that no schema reads. Rejects where the registry does not answer.
 */
export async function decodedRecord<T>(codec: Codec<T>, value: Buffer | null): Promise<T | null> {
  if (value === null) return null;
  try {
    await codec.prefetch(value);
    return codec.decode(value);
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}

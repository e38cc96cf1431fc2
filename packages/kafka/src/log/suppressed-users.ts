/**
 * The table of suppressed users: their keys alone, as digests, followed from `posthaste.suppressions`.
 *
 * Owns: the set of digests, and the table of keys that fills it.
 */
import { hash } from "node:crypto";
import { type DigestOf, DigestSet } from "@posthaste/core/deletion/digest-set";
import { SUPPRESSION_LEASE_MS, type SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { KafkaConnection } from "../connection/connect.ts";
import { createKeyTable, type KeyTable, type KeyTableOptions } from "./key-table.ts";

export interface SuppressedUsersTable extends SuppressedUsers, KeyTable {
  /** Whether a user's key is held whose digest is at hand. */
  hasDigest(digest: string): boolean;
}

export type SuppressedUsersOptions = Pick<KeyTableOptions, "topic" | "onStale" | "onFailure">;

/** SHA-256, whose first 128 bits the set holds. */
export const suppressionDigest: DigestOf = (key) => hash("sha256", key, "binary");

/** Resolves when the topic's reading began; waits for brokers. Rejects with `topic_missing`. */
export async function followSuppressedUsers(
  connection: KafkaConnection,
  options: SuppressedUsersOptions,
): Promise<SuppressedUsersTable> {
  const keys = new DigestSet(suppressionDigest);
  const table = await createKeyTable(connection, {
    ...options,
    leaseMs: SUPPRESSION_LEASE_MS,
    size: () => keys.size,
    onKey: (key, isHeld) => {
      if (isHeld) keys.add(key);
      else keys.delete(key);
    },
  });
  return {
    get size() {
      return keys.size;
    },
    get state() {
      return table.state;
    },
    get isCurrent() {
      return table.isCurrent;
    },
    has: (key) => keys.has(key),
    hasDigest: (digest) => keys.hasDigest(digest),
    whenCurrent: (goOn) => table.whenCurrent(goOn),
    revisionOf: (key) => table.revisionOf(key),
    caughtUp: () => table.caughtUp(),
    refresh: (timeoutMs) => table.refresh(timeoutMs),
    close: () => table.close(),
  };
}

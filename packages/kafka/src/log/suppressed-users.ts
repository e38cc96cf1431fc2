/**
 * The table of suppressed users, which it follows from `posthaste.suppressions`. It holds only digests of their keys.
 *
 * Owns: the set of digests, and the key table that fills it.
 */
import { DigestSet } from "@posthaste/core/deletion/digest-set";
import { SUPPRESSION_LEASE_MS, type SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { KafkaConnection } from "../connection/connect.ts";
import { createKeyTable, type KeyTable, type KeyTableOptions } from "./key-table.ts";
import { suppressionDigest } from "./suppression-digest.ts";

export interface SuppressedUsersTable extends SuppressedUsers, KeyTable {
  /** Whether the table holds the user's key that has this digest. */
  hasDigest(digest: string): boolean;
}

export type SuppressedUsersOptions = Pick<KeyTableOptions, "topic" | "onStale" | "onFailure">;

/** Resolves when reading has begun. Waits for brokers. Rejects with `topic_missing`. */
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

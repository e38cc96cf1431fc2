/** Whether an entry of the read model is of a suppressed user, by the digests that it holds. */
import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import type { SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import type { JournalEntry } from "../read-model/journal-entry.ts";

export type SuppressedDigests = Pick<SuppressedUsersTable, "size" | "hasDigest">;

export function isEntrySuppressed(suppressed: SuppressedDigests, { users }: Pick<JournalEntry, "users">): boolean {
  if (suppressed.size === 0) return false;
  for (let from = 0; from < users.length; from += DIGEST_LENGTH) {
    if (suppressed.hasDigest(users.slice(from, from + DIGEST_LENGTH))) return true;
  }
  return false;
}

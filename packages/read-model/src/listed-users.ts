/** Whether an entry of the read model is a suppressed user's, by the digests that it has. */
import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import type { SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import type { ProjectionEntry } from "./projection-entry.ts";

export type SuppressedDigests = Pick<SuppressedUsersTable, "size" | "hasDigest">;

export function isEntrySuppressed(suppressed: SuppressedDigests, { users }: Pick<ProjectionEntry, "users">): boolean {
  if (suppressed.size === 0) return false;
  for (let from = 0; from < users.length; from += DIGEST_LENGTH) {
    if (suppressed.hasDigest(users.slice(from, from + DIGEST_LENGTH))) return true;
  }
  return false;
}

/** The digests of the users that an entry is about. */
export function userDigestsOf({ users }: Pick<ProjectionEntry, "users">): readonly string[] {
  const count = users.length / DIGEST_LENGTH;
  return Array.from({ length: count }, (_, at) => users.slice(at * DIGEST_LENGTH, (at + 1) * DIGEST_LENGTH));
}

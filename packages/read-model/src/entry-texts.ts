/**
 * The texts that the detail of an entry with a given value holds. An entry that holds them may still not fit: the
 * filter decides.
 */

import { DIGEST_LENGTH } from "@posthaste/core/deletion/digest-set";
import type { DeadLetterFilter } from "@posthaste/core/replay/dead-letter-filter";
import type { SuppressedUsersTable } from "@posthaste/kafka/log/suppressed-users";
import type { ProjectionEntry } from "./projection-entry.ts";

type Value = string | number | undefined;

/** The texts for dead letters. */
export function deadLetterTexts({ sourceId, type, event, userId, error }: DeadLetterFilter): readonly string[] {
  return [...fields({ sourceId, type, event }), ...quoted([userId, error])];
}

/** The texts for values of any field. */
export function quoted(values: readonly (string | undefined)[]): readonly string[] {
  return values.flatMap((value) => (value === undefined ? [] : [JSON.stringify(value)]));
}

/** The texts for values of the fields of these names. */
export function fields(values: Readonly<Record<string, Value>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`],
  );
}

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

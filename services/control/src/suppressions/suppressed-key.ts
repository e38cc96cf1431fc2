/** Whether a deletion request stopped the events of whom a log names. */
import { type SuppressedUsers, suppressionKey } from "@posthaste/core/deletion/suppression";

export type SuppressedKeyCheck = (sourceId: string, userKey: string | null) => boolean;

/** A user key that was shortened is nobody's. */
export function suppressedKeyCheck(suppressed: SuppressedUsers): SuppressedKeyCheck {
  return (sourceId, userKey) => userKey !== null && suppressed.has(suppressionKey(sourceId, userKey));
}

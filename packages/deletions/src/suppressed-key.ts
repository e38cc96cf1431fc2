/** Whether a deletion request stopped the events of a user that a log names. */
import { type SuppressedUsers, suppressionKey } from "@posthaste/core/deletion/suppression";

export type SuppressedKeyCheck = (sourceId: string, userKey: string | null) => boolean;

/** The check by user keys. A user key that was shortened matches no user. */
export function suppressedKeyCheck(suppressed: SuppressedUsers): SuppressedKeyCheck {
  return (sourceId, userKey) => userKey !== null && suppressed.has(suppressionKey(sourceId, userKey));
}

/** Rejected calls, packed into records for the topic where a data engineer finds them. */
import type { RejectedCallEntry, RejectedCalls } from "@posthaste/core/call/rejected-call";

/** The most UTF-16 units that are kept of one call: as many as a call that is not too large can have. */
const MAX_KEPT = 32_768;

/** The most UTF-16 units of calls in one record; in UTF-8 still far below a broker's limit of 1 MB. */
const MAX_RECORD = 200_000;

/**
 * The call as text, cut to `MAX_KEPT`, and without its write key, which lets every reader of the topic send as the
 * source.
 */
export function toCallJson(call: unknown): string {
  return cutCallJson(JSON.stringify(call) ?? "");
}

/** A member `writeKey` with its comma; the text may end within it, and within an escape of it. */
const WRITE_KEY =
  /,\s*(?<!\\)"writeKey"\s*:\s*"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|(?<!\\)"writeKey"\s*:\s*"(?:[^"\\]|\\[\s\S])*(?:"\s*,?|\\?$)/g;

/** Cuts a call that is text already, in the same way. */
export function cutCallJson(json: string): string {
  // The text is cut before the search too, so that no more than can be kept is searched.
  const searched = json.slice(0, 2 * MAX_KEPT);
  // A search for the name alone is far cheaper than one with the pattern.
  const kept = searched.includes('"writeKey"') ? searched.replace(WRITE_KEY, "") : searched;
  return kept.slice(0, MAX_KEPT);
}

/** Packs the rejected calls of one request into records that a broker takes. */
export function packRejectedCalls(sourceId: string, entries: readonly RejectedCallEntry[]): readonly RejectedCalls[] {
  const records: RejectedCalls[] = [];
  let calls: RejectedCallEntry[] = [];
  let size = 0;
  for (const entry of entries) {
    const entrySize = entry.callJson.length + entry.message.length + namesLength(entry);
    if (calls.length > 0 && size + entrySize > MAX_RECORD) {
      records.push({ sourceId, calls });
      calls = [];
      size = 0;
    }
    calls.push(entry);
    size += entrySize;
  }
  if (calls.length > 0) records.push({ sourceId, calls });
  return records;
}

function namesLength({ messageId, userKey, event }: RejectedCallEntry): number {
  return (messageId?.length ?? 0) + (userKey?.length ?? 0) + (event?.length ?? 0);
}

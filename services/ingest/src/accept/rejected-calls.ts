/** Calls that were not accepted, packed for the topic where a data engineer finds them. */
import type { RejectedCallEntry, RejectedCalls } from "@posthaste/core/call/rejected-call";

/** UTF-16 units kept of one call; a call over its limit is kept as far as a legal one could go. */
const MAX_KEPT = 32_768;

/** Units of calls in one record: in UTF-8 still far below a broker's limit of a megabyte. */
const MAX_RECORD = 200_000;

/** The call as text, cut; without its write key, which opens the source to whoever reads the topic. */
export function toCallJson(call: unknown): string {
  return cutCallJson(JSON.stringify(call) ?? "");
}

/** A write key with its name, and the comma that goes with it; the text may be cut off within it. */
const WRITE_KEY =
  /,\s*(?<!\\)"writeKey"\s*:\s*"(?:[^"\\]|\\[\s\S])*(?:"|$)|(?<!\\)"writeKey"\s*:\s*"(?:[^"\\]|\\[\s\S])*(?:"\s*,?|$)/g;

/** The same for a call that is text already. */
export function cutCallJson(json: string): string {
  // Cut before as well: what is left out need not be searched.
  const searched = json.slice(0, 2 * MAX_KEPT);
  // To look for the name alone is far cheaper than for all that may stand around it.
  const kept = searched.includes('"writeKey"') ? searched.replace(WRITE_KEY, "") : searched;
  return kept.slice(0, MAX_KEPT);
}

/** Splits the rejects of one request into records that a broker takes. */
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

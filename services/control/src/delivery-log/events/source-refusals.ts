/**
 * The requests of a source that ingest refused as a whole, in words for somebody who looks for an event that never
 * came.
 */

import { isoTime } from "@posthaste/http-kit/moment";
import { activityFromEntry } from "@posthaste/read-model/activity-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";

/**
 * The most counts that are added up, the newest ones. Each covers ten seconds or a minute: together an hour of a busy
 * source at one process.
 */
const MAX_COUNTS = 500;

/** A sentence; empty where ingest refused none. Rejects with a Problem while the read model cannot be asked. */
export async function refusalsInWords(readModel: Pick<ReadModel, "newest">, sourceId: string): Promise<string> {
  const entries = await readModel.newest("source_activity", { destinationId: sourceId, limit: MAX_COUNTS });
  const counts = entries.map(activityFromEntry);
  const byCode = new Map<string, number>();
  for (const { refused } of counts) {
    for (const [code, count] of Object.entries(refused)) byCode.set(code, (byCode.get(code) ?? 0) + count);
  }
  if (byCode.size === 0) return "";
  const sinceMs = Math.min(...counts.map((each) => each.sinceMs));
  const codes = [...byCode].sort(([, a], [, b]) => b - a).map(([code, count]) => `${code} ${count} times`);
  return ` Since ${isoTime(sinceMs)} ingest refused requests of the source as a whole: ${codes.join(", ")}.`;
}

/**
 * The calls that a source sent lately: accepted ones from the end of `posthaste.events`, rejected ones and counts from
 * the read model.
 */

import { isEventSuppressed, type SuppressedUsers } from "@posthaste/core/deletion/suppression";
import { mergedFreshness } from "@posthaste/core/freshness";
import { freshAnswer } from "@posthaste/http-kit/freshness";
import { isoTime, isoTimeOrNull, tenths } from "@posthaste/http-kit/moment";
import { activityFromEntry, refusedRequestFromEntry } from "@posthaste/read-model/activity-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { rejectedCallFromEntry } from "@posthaste/read-model/rejected-call-entry";
import { callsPerSecond, rateSinceMs } from "./call-rate.ts";
import type { EventTail } from "./event-tail.ts";
import { adviceFor } from "./refusal-advice.ts";
import { type SourceCall, type SourceCallCounts, viewRefused, viewRejected, viewTaken } from "./source-call-view.ts";

export interface SourceCallsParts {
  readonly readModel: Pick<ReadModel, "newest" | "freshness">;
  readonly tail: Pick<EventTail, "newest">;
  /** The users whose events no list shows. */
  readonly suppressed: SuppressedUsers;
}

export interface SourceCallsQuery {
  readonly limit: number;
  /** The moment from which on calls are counted, ms since the epoch. */
  readonly sinceMs: number;
  readonly nowMs: number;
}

/** The most records of activity that one answer adds up: the records of some processes over a day. */
const MAX_COUNTED = 20_000;

/** Rejects with a Problem while the read model cannot be asked. */
export async function findSourceCalls(sourceId: string, query: SourceCallsQuery, parts: SourceCallsParts) {
  const { readModel, tail, suppressed } = parts;
  const ofSource = { destinationId: sourceId, limit: query.limit };
  const [taken, rejected, refused, counts] = await Promise.all([
    tail.newest(sourceId),
    readModel.newest("rejected_calls", ofSource),
    readModel.newest("refused_requests", { ...ofSource, kind: "request" }),
    countCalls(sourceId, query, readModel),
  ]);
  const shown = taken.events.filter(({ event }) => !isEventSuppressed(suppressed, event));
  const calls: SourceCall[] = [
    ...shown.map(viewTaken),
    ...rejected.map((entry) => viewRejected(rejectedCallFromEntry(entry), entry)),
    ...refused.map((entry) => viewRefused(refusedRequestFromEntry(entry), entry)),
  ];
  const fresh = [readModel.freshness("rejected_calls"), readModel.freshness("source_activity"), taken.freshness];
  return {
    data: calls.sort(newestFirst).slice(0, query.limit),
    counts,
    ...freshAnswer(fresh.reduce(mergedFreshness)),
  };
}

async function countCalls(
  sourceId: string,
  { sinceMs, nowMs }: Pick<SourceCallsQuery, "sinceMs" | "nowMs">,
  readModel: Pick<ReadModel, "newest">,
): Promise<SourceCallCounts> {
  const fromMs = Math.min(sinceMs, rateSinceMs(nowMs));
  const asked = { destinationId: sourceId, sinceMs: fromMs, limit: MAX_COUNTED };
  const entries = await readModel.newest("source_activity", asked);
  const activities = entries.map(activityFromEntry);
  const [rejected, refused] = [new Map<string, number>(), new Map<string, number>()];
  let accepted = 0;
  let lastAcceptedMs: number | null = null;
  for (const activity of activities) {
    if (activity.untilMs < sinceMs) continue;
    accepted += activity.accepted;
    if (activity.lastAcceptedMs !== null) lastAcceptedMs = Math.max(lastAcceptedMs ?? 0, activity.lastAcceptedMs);
    add(rejected, activity.rejected);
    add(refused, activity.refused);
  }
  const last = entries.length === MAX_COUNTED ? entries.at(-1) : undefined;
  return {
    since: isoTime(Math.max(last?.timeMs ?? 0, sinceMs)),
    accepted,
    perSecond: tenths(callsPerSecond(activities, nowMs)),
    lastAcceptedAt: isoTimeOrNull(lastAcceptedMs),
    rejected: countsOf(rejected),
    refused: countsOf(refused),
  };
}

function add(sums: Map<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [code, count] of Object.entries(counts)) sums.set(code, (sums.get(code) ?? 0) + count);
}

/** Most frequent first. */
function countsOf(sums: ReadonlyMap<string, number>) {
  return [...sums]
    .map(([code, count]) => ({ code, count, advice: adviceFor(code) }))
    .sort((a, b) => b.count - a.count || a.code.localeCompare(b.code));
}

function newestFirst(a: SourceCall, b: SourceCall): number {
  return b.time.localeCompare(a.time) || b.id.localeCompare(a.id, undefined, { numeric: true });
}

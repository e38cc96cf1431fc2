/** The delivery log: attempts, newest first. */

import type { SuppressedUsers } from "@posthaste/core/deletion/suppression";
import type { AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import { ATTEMPT_OUTCOMES } from "@posthaste/core/delivery/outcome";
import { EVENT_TYPES, OTHER } from "@posthaste/core/event/event";
import { type SuppressedKeyCheck, suppressedKeyCheck } from "@posthaste/deletions/suppressed-key";
import { freshAnswer } from "@posthaste/http-kit/freshness";
import { isoTime, isoTimeOrNull, tenths, timeRange } from "@posthaste/http-kit/moment";
import { pageOf, pageQuery } from "@posthaste/http-kit/page";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { attemptFromEntry } from "@posthaste/read-model/attempt-entry";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { z } from "zod";
import { attemptCheck, attemptFilter } from "./attempt-filter.ts";
import { attemptTexts } from "./filter-texts.ts";
import { filteredPage } from "./filtered-page.ts";
import { decodeCursor, encodeCursor } from "./page-cursor.ts";

export const deliveryQuery = pageQuery.extend({
  destinationId: z.string().optional(),
  outcome: z
    .enum(ATTEMPT_OUTCOMES, `expected one of ${ATTEMPT_OUTCOMES.join(", ")}`)
    .optional()
    .describe("What the attempt as a whole came to."),
  messageId: z.string().optional().describe("X-Message-Id of the requests."),
  ...attemptFilter,
  ...timeRange,
});

export const searchedTo = z.iso
  .datetime()
  .nullable()
  .describe("Where the search ended early, go on with nextCursor; else null.");

const delivery = z.object({
  time: z.iso.datetime().describe("When the attempt started."),
  destinationId: z.string(),
  sourceId: z.string(),
  messageId: z.string(),
  type: z.enum([...EVENT_TYPES, OTHER]),
  event: z.string().nullable().describe("track: the event's name; page, screen: the name."),
  userKey: z
    .string()
    .nullable()
    .describe("The user id, else the anonymous id, else the message id; null, as is the event, of a suppressed user."),
  receivedAt: z.iso.datetime().nullable().describe("When ingest took the call."),
  origin: z
    .object({ partition: z.int(), offset: z.int() })
    .nullable()
    .describe("The event in posthaste.events; null where that is not known."),
  configOffset: z.int().nullable().describe("How far the router had read the destinations when it routed the event."),
  record: z
    .object({
      delayMs: z.int().describe("Of its retry topic; 0 for posthaste.deliveries."),
      partition: z.int(),
      offset: z.int(),
      time: z.iso.datetime().describe("When the record was written; in posthaste.deliveries the moment of routing."),
    })
    .nullable()
    .describe("The delivery's record; null in an entry of an earlier release."),
  deferrals: z.int().describe("How often the delivery was deferred before."),
  replayId: z.string().nullable().describe("The replay or the resend that sent it; null for neither."),
  attempt: z.int().describe("1 for the first."),
  outcome: z.enum([...ATTEMPT_OUTCOMES, OTHER]),
  urls: z.array(
    z.object({
      url: z.string(),
      status: z.int().nullable(),
      error: z.string().nullable().describe("Null when a status arrived."),
      durationMs: z.number(),
      answer: z.string().nullable().describe("The start of what the receiver answered, known secrets masked."),
    }),
  ),
  followUps: z
    .array(
      z.object({
        kind: z.enum(["retry", "dead_letter", OTHER]),
        urls: z.array(z.string()).nullable().describe("The URLs that it is about; null for all that it owed."),
        delayMs: z.int().nullable().describe("retry: of its retry topic."),
        due: z.iso.datetime().nullable().describe("retry: when it leaves its retry topic."),
        deadline: z.iso.datetime().nullable().describe("retry: the end of its retry window."),
        reason: z.string().nullable().describe("dead_letter: why."),
      }),
    )
    .describe("What was published because of the attempt; empty when it delivered."),
  bodyBytes: z.int().nullable().describe("Of the body that each URL was sent; null in an entry of an earlier release."),
});

type DeliveryRow = z.output<typeof delivery>;

export function deliveryRoutes(readModel: ReadModel, suppressed: SuppressedUsers): readonly Route[] {
  const isSuppressed = suppressedKeyCheck(suppressed);
  return [
    defineRoute({
      method: "GET",
      path: "/v1/deliveries",
      operation: "listDeliveries",
      summary: "The delivery log: attempts, newest first",
      query: deliveryQuery,
      answer: {
        status: 200,
        description: "One page of attempts.",
        body: {
          name: "DeliveryPage",
          schema: pageOf(delivery).extend({ searchedTo }),
        },
      },
      handle: async ({ query: { limit, cursor, destinationId, outcome, messageId, since, until, ...others } }) => {
        const fresh = readModel.freshness("attempts");
        const page = await filteredPage(readModel, "attempts", {
          filter: { destinationId, kind: outcome, messageId, sinceMs: since, untilMs: until },
          limit,
          after: cursor === undefined ? undefined : decodeCursor(cursor),
          texts: attemptTexts(others),
          shows: attemptCheck(others),
        });
        return {
          data: page.entries.map((entry) => seenDelivery(view(entry), isSuppressed)),
          nextCursor: page.next === null ? null : encodeCursor(page.next),
          ...freshAnswer(fresh),
          searchedTo: isoTimeOrNull(page.searchedToMs),
        };
      },
    }),
  ];
}

/** The row of the list, with no other fields; `seenDelivery` then hides a suppressed user's. */
export function viewDelivery(entry: ProjectionEntry): DeliveryRow {
  return delivery.parse(view(entry));
}

/** The row as a caller may see it: for a suppressed user, without the user's key and the event's name. */
export function seenDelivery(row: DeliveryRow, isSuppressed: SuppressedKeyCheck): DeliveryRow {
  return isSuppressed(row.sourceId, row.userKey) ? { ...row, userKey: null, event: null } : row;
}

function view(entry: ProjectionEntry): DeliveryRow {
  const attempt = attemptFromEntry(entry);
  const { messageId, sourceId, destinationId, type, event, userKey, outcome, configOffset, deferrals, replayId } =
    attempt;
  return {
    time: isoTime(attempt.startedAtMs),
    ...{ messageId, sourceId, destinationId, type, event, userKey, configOffset, deferrals, replayId, outcome },
    ...{ attempt: attempt.attempt, bodyBytes: attempt.bodyBytes },
    receivedAt: isoTimeOrNull(attempt.receivedAtMs),
    origin: originOf(attempt),
    record: recordOf(attempt),
    urls: attempt.urls.map((url) => ({ ...url, durationMs: tenths(url.durationMs) })),
    followUps: attempt.followUps.map(({ kind, urls, delayMs, dueAtMs, deadlineMs, reason }) => ({
      ...{ kind, urls: urls === null ? null : [...urls], delayMs, reason },
      due: isoTimeOrNull(dueAtMs),
      deadline: isoTimeOrNull(deadlineMs),
    })),
  };
}

function originOf({ originPartition, originOffset }: AttemptRecord): z.output<typeof delivery>["origin"] {
  if (originPartition === null || originOffset === null) return null;
  return { partition: originPartition, offset: originOffset };
}

function recordOf(attempt: AttemptRecord): z.output<typeof delivery>["record"] {
  const { recordDelayMs, recordPartition, recordOffset, recordTimestampMs } = attempt;
  if (recordDelayMs === null || recordPartition === null || recordOffset === null || recordTimestampMs === null) {
    return null;
  }
  const time = isoTime(recordTimestampMs);
  return { delayMs: recordDelayMs, partition: recordPartition, offset: recordOffset, time };
}
